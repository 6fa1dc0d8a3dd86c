"""warcio: every record of the files, responses with their HTTP header read and their body unpacked."""

import sys

from warcio.archiveiterator import ArchiveIterator

for path in sys.argv[1:]:
    records = bytes_read = 0
    with open(path, "rb") as stream:
        for record in ArchiveIterator(stream):
            records += 1
            bytes_read += len(record.content_stream().read())
    print(f"{path}: {records} records, {bytes_read} bytes")
