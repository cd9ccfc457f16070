"""Fingerprints as words that two people can compare by reading them aloud: one word for each eight bits."""

from __future__ import annotations

_LIST = """
acid acorn actor album alley amber ankle apple april arrow attic aunt autumn axle bacon badge
baker bamboo banjo barn basil beach beard beetle bench berry birch bishop blanket blossom boat bonfire
bottle bowl bread brick bronze brush bucket button cabin cactus camel candle canoe carpet castle cattle
cedar cellar chalk cherry chimney circus clay clock clover coach cobra coffee comet copper coral cotton
cradle cricket crown crystal cup curtain daisy dancer deer desert diamond doctor dolphin donkey door dragon
drum duck dune eagle earth easel echo eel elbow elm ember engine evening fabric falcon farmer
feather fence fern fiddle field finger fire flag flute fog forest fountain fox frost galaxy garden
garlic gate ghost giant ginger giraffe glove goat gold grape gravel guitar hammer harbor harp hat
hazel hedge helmet heron hill honey hook horse hotel ice igloo infant ink iris iron island
ivory jacket jaguar jar jelly jewel judge jungle kayak kettle king kite kitten knife ladder lagoon
lake lantern lemon letter lily lion lizard lobster lotus magnet mango maple marble meadow melon metal
milk mirror mitten monkey moon moss motor mouse museum napkin needle nest night noodle nurse nut
oak oasis ocean olive onion opera orange orchid otter oven owl oyster paddle palace panda paper
parrot peach pebble pencil pepper piano pigeon pillow pirate planet plum pocket pond potato prince pumpkin
puzzle queen quilt rabbit radio rain raven ribbon river robin rocket rope rose ruby saddle salad
salmon sand scarf school seed shadow sheep silver skate snow spider spoon star storm sugar swan
"""
WORDS = tuple(_LIST.split())
"""256 words of our own choosing; no two begin with the same four letters. They never change: what was compared must stay."""
LENGTH = 16
"""So many words are shown. They hold 128 bits: whoever makes *both* texts, and wants them to sound alike, has to try 2^64."""


def spoken(fingerprint: str) -> str:
    """Say the first 128 bits of a fingerprint as sixteen words, in fours.

    Half as many would do against someone who has to imitate a given text. Whoever writes an offer can write two, and with
    eight words would find two that sound alike after 2^32 tries, in minutes.

    >>> spoken("00ff0102" + "00" * 28)
    'acid swan acorn actor · acid acid acid acid · acid acid acid acid · acid acid acid acid'
    """
    words = [WORDS[byte] for byte in bytes.fromhex(fingerprint)[:LENGTH]]
    return " · ".join(" ".join(words[at : at + 4]) for at in range(0, LENGTH, 4))
