"""datatrove's four MinHash stages with its default buckets; its own word splitter is replaced by the token rule."""

import glob
import os
import tempfile

import orjson
from datatrove.executor import LocalPipelineExecutor
from datatrove.pipeline.dedup import (
    MinhashConfig,
    MinhashDedupBuckets,
    MinhashDedupCluster,
    MinhashDedupFilter,
    MinhashDedupSignature,
)
from datatrove.pipeline.readers import JsonlReader
from datatrove.pipeline.writers import JsonlWriter
from datatrove.utils.text import TextNormConfig
from datatrove.utils.word_tokenizers import WordTokenizer

import pages


class TokenRule(WordTokenizer):
    def word_tokenize(self, text):
        return pages.words(text)

    def sent_tokenize(self, text):
        return [text]

    def span_tokenize(self, text):
        return [(0, len(text))]


if __name__ == "__main__":
    args = pages.arguments()
    as_it_is = TextNormConfig(
        lowercase=False,
        norm_whitespace=False,
        remove_punctuation=False,
        norm_unicode_diacritics=False,
        norm_numbers=False,
        norm_weekdays=False,
        norm_monthnames=False,
    )
    config = MinhashConfig(n_grams=pages.SHINGLE, norm_config=as_it_is)
    tasks = len(args.inputs)
    with tempfile.TemporaryDirectory(dir=os.path.dirname(os.path.abspath(args.kept))) as folder:
        place = {name: os.path.join(folder, name) for name in ("in", "sigs", "buckets", "clusters", "gone", "out")}
        os.mkdir(place["in"])
        for number, path in enumerate(args.inputs):
            os.symlink(os.path.abspath(path), os.path.join(place["in"], f"{number}.jsonl"))
        reader = JsonlReader(place["in"])

        def run(tasks, *steps):
            # Left alone it logs into the current folder. Each stage needs its own, or it counts as done.
            logs = tempfile.mkdtemp(dir=folder)
            LocalPipelineExecutor(pipeline=list(steps), tasks=tasks, workers=os.cpu_count(), logging_dir=logs).run()

        run(tasks, reader, MinhashDedupSignature(place["sigs"], config=config, language=TokenRule()))
        run(config.num_buckets, MinhashDedupBuckets(place["sigs"], place["buckets"], config=config))
        run(1, MinhashDedupCluster(place["buckets"], place["clusters"], config=config))
        removed_writer = JsonlWriter(place["gone"], compression=None)
        run(
            tasks,
            reader,
            MinhashDedupFilter(place["clusters"], exclusion_writer=removed_writer),
            JsonlWriter(place["out"], compression=None),
        )
        gone = set()
        for path in glob.glob(os.path.join(place["gone"], "**", "*.jsonl"), recursive=True):
            with open(path, "rb") as file:
                gone.update(orjson.loads(line)["id"] for line in file)
    pages.deduplicate(args, lambda batch: (page["id"] not in gone for page in batch))
