"""Makes marks.json: fixed vectors of an account's mark (docs/formats.md), independently of the vault's code.

As make_vectors.py, whose helpers it takes; the word list comes from the package `mnemonic`.

    python3 make_mark_vectors.py > marks.json
"""
import json

from mnemonic import Mnemonic

from make_vectors import b64u, fixed, hkdf

COLOURS = ["red", "orange", "yellow", "green", "teal", "blue", "violet", "grey"]


def mark(account_key):
    """Three words of 11 bits each, then the sixth byte for the colour."""
    derived = hkdf(account_key, "relicario/v1/mark")
    number = int.from_bytes(derived[:5], "big") >> 7
    words = [Mnemonic("english").wordlist[number >> shift & 2047] for shift in (22, 11, 0)]
    return {"account_key": b64u(account_key), "derived": b64u(derived), "words": words, "colour": COLOURS[derived[5] % 8]}


def main():
    keys = [fixed("account key"), fixed("rotated account key"), bytes(32), bytes([255]) * 32]
    print(json.dumps({"about": "Made by make_mark_vectors.py. docs/formats.md explains.", "marks": [mark(key) for key in keys]}, indent=1))


if __name__ == "__main__":
    main()
