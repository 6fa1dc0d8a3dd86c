"""readability-lxml, the Python port of Readability; its summary is HTML, whose text is taken with lxml."""

import lxml.html
from readability import Document

import extraction


def extract(html):
    summary = Document(html).summary(html_partial=True)
    return " ".join(lxml.html.fromstring(summary).itertext())


extraction.extract_all(extraction.arguments(), extract)
