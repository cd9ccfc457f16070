#!/bin/sh
# One dump a day, readable for its owner alone; the oldest go. With "once" as argument: one, and leave.
# The ledger says what everyone has spent: check a restored one against the newest release (docs/how-to/backup.md).
set -eu
umask 077
folder=${BACKUPS:-/backups}
while :; do
    name="$folder/ledger-$(date -u +%Y%m%dT%H%M%SZ).dump"
    pg_dump --format=custom --file="$name.part" || { rm -f "$name.part"; exit 1; }
    mv "$name.part" "$name"
    echo "wrote $name"
    find "$folder" -name 'ledger-*.dump' -mtime "+${KEEP_DAYS:-14}" -delete
    [ "${1:-}" = once ] && exit 0
    sleep 86400
done
