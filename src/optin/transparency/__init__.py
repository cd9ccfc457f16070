"""A transparency log, as RFC 6962 and C2SP have it: a tree of hashes, proofs, checkpoints that are signed, and witnesses.

Everything here is about hashes and signatures; what the leaves are is said by the ledger: the hashes of its acts.
"""
