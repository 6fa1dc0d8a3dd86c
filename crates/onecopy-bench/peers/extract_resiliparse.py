"""resiliparse: its main content rules, or all visible text."""

from resiliparse.extract.html2text import extract_plain_text

import extraction

args = extraction.arguments()
main = args.setting != "all"
extraction.extract_all(args, lambda html: extract_plain_text(html, main_content=main, alt_texts=False))
