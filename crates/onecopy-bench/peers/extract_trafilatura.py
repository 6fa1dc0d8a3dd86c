"""trafilatura, in the settings its documentation names; comments of readers are left out in all of them."""

import trafilatura

import extraction

SETTINGS = {
    "default": {},
    "recall": {"favor_recall": True},
    "precision": {"favor_precision": True},
    "fast": {"fast": True},
}

args = extraction.arguments()
options = SETTINGS[args.setting or "default"]
extraction.extract_all(args, lambda html: trafilatura.extract(html, include_comments=False, **options))
