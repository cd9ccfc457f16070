"""Is a file still the one that was read? Its size and the times of its last change tell, without reading it again.

One of these times anybody may set back, as copying programs do; the other the system keeps for itself.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

from optin.errors import PromiseBroken

Mark = tuple[str, ...] | None
TOLD = ("ETag", "etag", "md5Hash", "checksum", "mtime", "LastModified", "last_modified", "updated", "created")
"""What storage services call the mark that changes with a file's content."""


def marks_of(files: Sequence[str]) -> tuple[Mark, ...]:
    """Note size and last change of each file; None for one that is not there."""
    return tuple(_remote(file) if "://" in file else _local(file) for file in files)


def expect_unchanged(files: Sequence[str], marks: Sequence[Mark]) -> None:
    """Refuse to go on with a file that was changed, replaced or taken away since it was first looked at."""
    for file, before, now in zip(files, marks, marks_of(files), strict=True):
        if before is None or before != now:
            raise PromiseBroken(
                "{file} was changed while this ran, so what was computed may belong to other people. Nothing was"
                " written or charged: let the file rest, then try again",
                file=file,
            )


def _local(file: str) -> Mark:
    try:
        status = os.stat(file)
    except OSError:
        return None
    return str(status.st_size), str(status.st_mtime_ns), str(status.st_ctime_ns), str(status.st_ino)


def _remote(file: str) -> Mark:
    try:
        from fsspec.core import url_to_fs

        system, path = url_to_fs(file)
        system.invalidate_cache()
        info: dict[str, Any] = system.info(path)
    except Exception:  # whatever a storage service raises, the file cannot be vouched for
        return None
    return str(info.get("size")), *(str(info[name]) for name in TOLD if name in info)
