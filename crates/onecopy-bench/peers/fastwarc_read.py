"""FastWARC: every record of the files, responses with their HTTP header read. It leaves bodies packed."""

import sys

from fastwarc.warc import ArchiveIterator

for path in sys.argv[1:]:
    records = bytes_read = 0
    for record in ArchiveIterator(path, parse_http=True):
        records += 1
        bytes_read += len(record.reader.read())
    print(f"{path}: {records} records, {bytes_read} bytes")
