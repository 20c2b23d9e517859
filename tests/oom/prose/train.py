#!/usr/bin/env python3
"""Trains the small linear model that reads what people say around an error (core/diagnosis/prose.json).

    train.py --score                               # cross-validated by source, each label
    train.py ../../../core/diagnosis/prose.json

Needs numpy and scikit-learn; nothing of the build does. The sentences are those of *.txt beside this file, a
line each: "label sentence" ("label!" where it also says that memory ran out), or source, labels and sentence
with tabs between. Another language is another file."""
import glob
import json
import os
import re
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
STOPS = re.compile(r"\n|(?<=[.;?!])\s|[。；？！]")
LONGEST = 400


def fold(text):
    return "".join(chr(ord(c) + 32) if "A" <= c <= "Z" else c for c in text)


def is_prose(sentence):
    """Words and blanks, mostly: no setting, no path, no row of a table, no line of code, no version."""
    data = sentence.encode()
    said = sum(1 for c in data if 97 <= c <= 122 or c == 32 or c >= 128)
    other = sum(1 for c in data if c < 128 and not 48 <= c <= 57) - sum(1 for c in data if 97 <= c <= 122 or c == 32)
    call = re.search(r"[a-z0-9_]\(", sentence) is not None
    word = b" " not in data and all(c < 128 for c in data)
    gives = "=" in sentence and (sentence.count(" ") < 8 or " = " in sentence)
    code = call and (word or gives or ".py" in sentence)
    setting = re.match(r".* --|--|\||[a-z0-9]*_[a-z0-9_]* ?(:|=.?[^ ]*(( [^ ]*){0,2}$|.*#))", sentence) is not None
    exception = re.match(r"[a-z0-9_]*error:", sentence) is not None
    version = re.search(r"(version|版本) *[:：]", sentence) is not None
    return len(data) >= 3 and said >= 4 * other and not (code or setting or exception or version)


def sentences(text):
    out = []
    for part in STOPS.split(fold(text)):
        part = part.strip(" \t\r")
        part = part.encode()[:LONGEST].decode(errors="ignore")
        if is_prose(part):
            out.append(part)
    return out


def tokens(sentence):
    """Words of letters, single characters of scripts without blanks, numbers as '#'; one is told from many."""
    out = []
    for word in re.findall(r"[a-z\u0080-\u07ff]+|[0-9]+|[\u0800-\u1fff\u3040-\ufeff\uff80-\uffff]", sentence):
        out.append(("1" if word == "1" else "#") if word[0] in "0123456789" else word)
    return out


def is_sign(token):
    return ord(token[0]) >= 0x800


def features(sentence):
    """Stems, words and what stands side by side; of scripts without blanks one, two and three characters."""
    words = tokens(sentence)
    out = set()
    for i, word in enumerate(words):
        out.add(word)
        if len(word) > 5 and not is_sign(word):
            out.add(word[:5] + "-")
        if i + 1 < len(words):
            after = words[i + 1]
            if is_sign(word) and is_sign(after):
                out.add(word + after)
                if i + 2 < len(words) and is_sign(words[i + 2]):
                    out.add(word + after + words[i + 2])
            else:
                out.add(word[:5] + " " + after[:5])
    return out


def read(folder=HERE):
    """(source, labels, sentence) of every line."""
    rows = []
    for path in sorted(glob.glob(os.path.join(folder, "*.txt"))):
        name = os.path.basename(path)[:-4]
        for line in open(path, encoding="utf-8"):
            line = line.rstrip("\n")
            if not line:
                continue
            parts = line.split("\t")
            if len(parts) == 3:
                source, labels, text = parts
            else:
                source = name
                labels, text = line.split(" ", 1)
            labels = labels.replace("!", " lack").replace("~", "").split()
            rows.append((source, [l for l in labels if l != "none"], fold(text)))
    return rows


LABELS = ("lack host load resume save eval merge generate inference optimizer later growing update occupied "
          "alone fewer logits copies one_card no_effect fragments estimate requirement full adapters "
          "fp32 no_flash modules scores spills").split()
SCALE = 2  # weights are halves of a logarithm of odds
LARGEST = 20000  # bytes of the file
POSITIVE = 4  # a sentence that says a thing counts as so many that do not
FRAGMENT = 0.6  # what was cut out of its sentence counts less


def matrix(rows, least=2):
    """Features that stand in at least so many sentences, and the sentences as rows of ones and zeros."""
    from collections import Counter
    import numpy as np
    from scipy.sparse import csr_matrix
    sets = [features(text) for _, _, text in rows]
    count = Counter(f for one in sets for f in one)
    names = sorted(f for f, n in count.items() if n >= least)
    index = {f: i for i, f in enumerate(names)}
    at, columns = [0], []
    for one in sets:
        columns += sorted(index[f] for f in one if f in index)
        at.append(len(columns))
    return names, csr_matrix((np.ones(len(columns)), columns, at), shape=(len(rows), len(names)))


def fit(x, y, weights, names, most, without=""):
    """(bias, {gram: weight}) of one label: the grams that L1 keeps, at most so many, weighed again by L2."""
    import warnings
    import numpy as np
    from sklearn.linear_model import LogisticRegression
    warnings.filterwarnings("ignore", module="sklearn")
    how = dict(solver="liblinear", class_weight={0: 1, 1: POSITIVE}, max_iter=300, random_state=0)
    first = LogisticRegression(penalty="l1", C=1.0, **how).fit(x, y, sample_weight=weights).coef_[0]
    kept = [i for i in np.argsort(-np.abs(first), kind="stable")
            if abs(first[i]) > 1e-6 and not (without and without in names[i])][:most]
    again = LogisticRegression(C=0.5, **how).fit(x[:, kept], y, sample_weight=weights)
    return again.intercept_[0], dict(zip((names[i] for i in kept), again.coef_[0]))


def train(rows, most):
    """{label: {gram: weight}}, the bias under ''; whole numbers."""
    import numpy as np
    names, x = matrix(rows)
    weights = np.array([FRAGMENT if source == "fragments" else 1.0 for source, _, _ in rows])
    out = {}
    for label in LABELS:
        y = np.array([label in labels for _, labels, _ in rows])
        # How many cards of what size a run has says nothing of its failure.
        bias, grams = fit(x, y, weights, names, most, "#" if label == "lack" else "")
        out[label] = {"": round(SCALE * bias)}
        out[label].update((g, round(SCALE * v)) for g, v in grams.items() if round(SCALE * v) != 0)
    return out


def score_of(grams, found):
    return grams[""] + sum(grams.get(f, 0) for f in found)


def cross_validate(rows, most, folds=5):
    """Hits, false alarms and misses of each label on sentences of reports; a source is wholly in one fold."""
    import hashlib
    total = {label: [0, 0, 0] for label in LABELS}

    def fold_of(row):
        key = row[0] if "/" in row[0] else row[2]
        return int(hashlib.sha256(key.encode()).hexdigest(), 16) % folds
    for fold in range(folds):
        held = [r for r in rows if fold_of(r) == fold and ("/" in r[0] or r[0] == "tests")]
        model = train([r for r in rows if fold_of(r) != fold], most)
        for _, labels, text in held:
            found = features(text)
            for label in LABELS:
                says = score_of(model[label], found) > 0
                total[label][0 if says and label in labels else 1 if says else 2] += says or label in labels
    return total


def main():
    import argparse
    parser = argparse.ArgumentParser()
    parser.add_argument("out", nargs="?", help="where the model is written")
    parser.add_argument("--score", action="store_true", help="cross-validate by source")
    args = parser.parse_args()
    rows = read()
    if args.score:
        total = cross_validate(rows, 110)
        hits, alarms, misses = (sum(t[i] for t in total.values()) for i in range(3))
        print(f"precision {hits / (hits + alarms):.3f} recall {hits / (hits + misses):.3f}")
        for label, (hit, alarm, miss) in total.items():
            print(f"  {label:12} right {hit:4} wrong {alarm:4} missed {miss:4}")
    if args.out:
        most, text = 140, None  # more of them score no better
        while text is None or len(text.encode()) > LARGEST:
            most -= 5
            text = text_of(train(rows, most))
        with open(args.out, "w", encoding="utf-8") as file:
            file.write(text)
        print(len(rows), "sentences,", len(text.encode()), "bytes, at most", most, "grams a label")


def text_of(model):
    """One line a label, its bias and the grams of each weight, so that a difference says what changed."""
    lines = []
    for label, grams in model.items():
        by_weight = {}
        for gram in sorted(g for g in grams if g):
            by_weight.setdefault(grams[gram], []).append(gram)
        value = {"bias": grams[""], **{str(w): "|".join(by_weight[w]) for w in sorted(by_weight)}}
        lines.append(json.dumps(label) + ":" + json.dumps(value, ensure_ascii=False, separators=(",", ":")))
    return "{\n" + ",\n".join(lines) + "\n}\n"


if __name__ == "__main__":
    main()
