"""Makes sealing.json: fixed vectors of the sealing formats (docs/formats.md), independently of the vault's code.

HKDF, AES, Ed25519 and HMAC come from Python's cryptography, Argon2id from argon2-cffi, age files and recipients from the
Go age tools (1.3 or newer: `age` and `age-keygen` on the path). bech32 (BIP 173) is written out below.

    pip install cryptography argon2-cffi
    python3 make_vectors.py > sealing.json

Sealed age files differ at every run, as they must; everything else stays the same.
"""
import base64
import hashlib
import hmac
import json
import subprocess
import tempfile

from argon2.low_level import Type, hash_secret_raw
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.kdf.hkdf import HKDF


def b64u(data):
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def sha256(*parts):
    return hashlib.sha256(b"".join(parts)).digest()


def fixed(name, size=32):
    """Bytes that stand for random ones, told apart by name."""
    return b"".join(sha256(b"relicario vector", name.encode(), bytes([i])) for i in range(-(-size // 32)))[:size]


def hkdf(secret, label, salt=b""):
    return HKDF(hashes.SHA256(), 32, salt, label.encode()).derive(secret)


def jcs(document):
    """RFC 8785 for what occurs here: ASCII member names, integers, strings, lists, nulls."""
    return json.dumps(document, sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode()


def padded(document):
    data = jcs(document)
    return data + b" " * (512 * max(1, -(-len(data) // 512)) - len(data))


# ---------------------------------------------------------------------------------------------- bech32

CHARSET = "qpzry9x8gf2tvdw0s3jn54khce6mua7l"


def bech32(prefix, data):
    values, accumulator, bits = [], 0, 0
    for byte in data:
        accumulator, bits = accumulator << 8 | byte, bits + 8
        while bits >= 5:
            bits -= 5
            values.append(accumulator >> bits & 31)
    if bits:
        values.append(accumulator << (5 - bits) & 31)

    def polymod(items):
        check = 1
        for item in items:
            top = check >> 25
            check = (check & 0x1FFFFFF) << 5 ^ item
            for i, generator in enumerate([0x3B6A57B2, 0x26508E6D, 0x1EA119FA, 0x3D4233DD, 0x2A1462B3]):
                check ^= generator if top >> i & 1 else 0
        return check

    expanded = [ord(c) >> 5 for c in prefix] + [0] + [ord(c) & 31 for c in prefix]
    polymod_value = polymod(expanded + values + [0] * 6) ^ 1
    checksum = [polymod_value >> 5 * (5 - i) & 31 for i in range(6)]
    return prefix + "1" + "".join(CHARSET[v] for v in values + checksum)


def identity_of(seed):
    return bech32("age-secret-key-pq-", seed).upper()


def run(command, data):
    return subprocess.run(command, input=data, stdout=subprocess.PIPE, check=True).stdout


def recipient_of(identity):
    return run(["age-keygen", "-y"], identity.encode() + b"\n").decode().strip()


def age_seal(recipients, plain):
    with tempfile.NamedTemporaryFile("w", suffix=".txt") as file:
        file.write("\n".join(recipients) + "\n")
        file.flush()
        return run(["age", "-R", file.name], plain)


# ---------------------------------------------------------------------------------------------- signing

PREFIXES = {kind: f"relicario/v1/{kind}".encode() for kind in ["ticket", "key", "put", "author-ticket", "author-put"]}


def public_key(seed):
    return Ed25519PrivateKey.from_private_bytes(seed).public_key().public_bytes(serialization.Encoding.Raw, serialization.PublicFormat.Raw)


def signed_bytes(kind, document):
    return PREFIXES[kind] + b"\n" + sha256(jcs({k: v for k, v in document.items() if k != "sig"}))


def sign(kind, document, seed):
    return {**document, "sig": b64u(Ed25519PrivateKey.from_private_bytes(seed).sign(signed_bytes(kind, document)))}


# ---------------------------------------------------------------------------------------------- JWE

def jwe(key, header, document, iv):
    protected = b64u(json.dumps({"alg": "dir", "enc": "A256GCM", **header}, separators=(",", ":")).encode())
    sealed = AESGCM(key).encrypt(iv, padded(document), protected.encode())
    return ".".join([protected, "", b64u(iv), b64u(sealed[:-16]), b64u(sealed[-16:])])


# ---------------------------------------------------------------------------------------------- helper

COSTS = dict(time_cost=3, memory_cost=64 * 1024, parallelism=1, hash_len=32, type=Type.ID)


def helper(image_secret, sketch, passphrase, salt, sketch_salt, nonce, root, unused_bits):
    encrypted = passphrase != ""
    typed = passphrase.encode()  # already NFC
    u32 = lambda number: number.to_bytes(4, "little")
    header = b"RIE1" + bytes([1, 1, 3 if encrypted else 0, 0]) + u32(64 * 1024) + u32(3) + u32(1) + salt + sketch_salt
    stretched = hash_secret_raw(b"RIE1/pw" + image_secret + u32(len(typed)) + typed, salt, **COSTS)
    root_key = hkdf(stretched, "RIE1/root/v1", sha256(header, sketch))
    wrapped = AESGCM(root_key).encrypt(nonce, root, header)
    stored = sketch
    if encrypted:
        with_bits = bytearray(sketch)
        with_bits[255] |= unused_bits[0] & 0x80
        with_bits[341] |= unused_bits[1] & 0xFC
        key = hash_secret_raw(b"RIE1/sk" + u32(len(typed)) + typed, sketch_salt, **COSTS)
        encryptor = Cipher(algorithms.AES(key), modes.CTR(bytes(16))).encryptor()
        stored = encryptor.update(bytes(with_bits)) + encryptor.finalize()
    helper_bytes = header + stored + nonce + wrapped
    assert len(helper_bytes) == 454
    return helper_bytes


def main():
    user_id = "019a9e2c-7c1e-7abc-8def-0123456789ab"
    secret_id = "019a9e2c-7c1e-7abc-8def-00000000beef"
    image_id = "019a9e2c-7c1e-7abc-8def-0000000000aa"
    when = "2026-11-21T10:04:05.678Z"

    account_key = fixed("account key")
    names = ["identity", "label", "book", "shares", "requests", "state", "inner", "sign", "author"]
    derived = {name: hkdf(account_key, f"relicario/v1/{name}") for name in names}
    account_identity = identity_of(derived["identity"])
    signing_key = public_key(derived["sign"])
    author_key = public_key(derived["author"])

    image_root = fixed("image root")
    image_seed = hkdf(image_root, "relicario/v1/image-identity")
    slot_auth = hkdf(image_seed, "relicario/v1/slot-auth")
    image_identity = identity_of(image_seed)
    image_recipient = recipient_of(image_identity)

    other_identity = identity_of(fixed("other opener"))
    other_recipient = recipient_of(other_identity)

    slot = {"v": 1, "kind": "slot", "user_id": user_id, "opener_id": image_id, "key_epoch": 1, "account_key": b64u(account_key)}
    slot["mac"] = b64u(hmac.new(slot_auth, jcs(slot), hashlib.sha256).digest())

    sketch = bytearray(fixed("sketch", 342))
    sketch[255] &= 0x7F
    sketch[341] &= 0x03
    sketch = bytes(sketch)
    image_secret = fixed("image secret")
    parts = dict(salt=fixed("salt", 16), nonce=fixed("nonce", 12), root=image_root, unused_bits=fixed("unused", 2))
    phrase = "caf\u00e9 \u2615 with  spaces "
    helpers = [
        dict(passphrase=None, sketch_salt=bytes(16), bytes=helper(image_secret, sketch, "", sketch_salt=bytes(16), **parts)),
        dict(passphrase=phrase, sketch_salt=fixed("sketch salt", 16), bytes=helper(image_secret, sketch, phrase, sketch_salt=fixed("sketch salt", 16), **parts)),
    ]

    text = "twelve words that nobody else knows\n".encode()
    content_seed = fixed("content")
    content_identity = identity_of(content_seed)
    content = age_seal([recipient_of(content_identity)], text + b"\n" * (256 - len(text)))
    ticket = sign("ticket", {
        "v": 1, "kind": "owner", "secret_id": secret_id, "version": 1, "rev": 1, "owner": user_id, "title": "Árbol \U0001F333", "tags": ["paper"],
        "openers": [image_id], "name": "secret.txt", "mime": "text/plain", "content_kind": "text", "size": len(text), "content_sha256": b64u(sha256(content)),
        "content_identity": content_identity, "created_at": when,
    }, derived["author"])
    sealed_ticket = age_seal([image_recipient, other_recipient], padded(ticket))
    ticket_signature = sign("author-ticket", {
        "v": 1, "user_id": user_id, "secret_id": secret_id, "version": 1, "rev": 1, "share_id": None, "contacts": [],
        "ticket_sha256": b64u(sha256(sealed_ticket)), "content_sha256": b64u(sha256(content)),
    }, derived["author"])

    label = {
        "v": 1, "title": "Árbol \U0001F333", "tags": ["paper"], "content_kind": "text", "name": "secret.txt", "size": len(text), "openers": [image_id],
        "ticket_sha256": b64u(sha256(sealed_ticket)), "former_sha256": None, "rehearsed": [{"opener_id": image_id, "at": when}],
        "kits": [{"sha256": b64u(fixed("kit")), "made_at": when, "key_epoch": 1, "ticket_sha256": b64u(sha256(sealed_ticket))}], "source": b64u(fixed("source")),
    }
    label_jwe = jwe(derived["label"], {"typ": "relicario-label", "user_id": user_id, "key_epoch": 1, "secret_id": secret_id, "version": 1, "rev": 1}, label, fixed("label iv", 12))
    owner_header = {"user_id": user_id, "key_epoch": 1}
    person = {
        "v": 1, "user_id": "019a9e2c-7c1e-7abc-8def-0000000000bb", "recipient": recipient_of(identity_of(fixed("person"))),
        "signing_key": b64u(public_key(fixed("person sign"))), "author_key": b64u(public_key(fixed("person author"))), "key_epoch": 3,
    }
    trust = {"compared": True, "blocked": False, "pinned_at": when}
    book_inner = {
        "v": 1, "inner_rev": 4, "people": [{"user_id": person["user_id"], "name": "ben", "statement_sha256": b64u(sha256(jcs(person))), **trust}],
        "old_author_keys": [{"key_epoch": 1, "author_key": b64u(public_key(fixed("old author")))}], "openers": [{"id": image_id, "recipient": image_recipient}], "sketches": [{"image_id": image_id, "sketch": b64u(sketch)}],
        "old_identity_seeds": [{"key_epoch": 1, "seed": b64u(fixed("old identity"))}],
    }
    book_inner_jwe = jwe(derived["inner"], {"typ": "relicario-inner", **owner_header, "of": "book"}, book_inner, fixed("book inner iv", 12))
    former = [{"version": version, "ticket_sha256": b64u(fixed(f"former ticket {version}"))} for version in [1, 2, 10]]
    former_lines = "".join(f"{version} {fixed(f'former ticket {version}').hex()}\n" for version in [1, 2, 10])
    book = {
        "v": 1, "openers": [{"id": image_id, "kind": "image", "name": "The market", "recipient": image_recipient, "created_at": when}],
        "images": [{"id": image_id, "status": "opener", "helper_sha256": b64u(sha256(helpers[0]["bytes"])), "added_at": when}],
        "import_key": None, "people": [{"name": "ben", **{k: v for k, v in person.items() if k != "v"}, **trust}], "inner": book_inner_jwe,
    }
    book_jwe = jwe(derived["book"], {"typ": "relicario-book", "user_id": user_id, "key_epoch": 1}, book, fixed("book iv", 12))
    share_id = b64u(fixed("share", 16))
    shares_inner = {"v": 1, "shares": [{"share_id": share_id, "link_key": b64u(fixed("link key")), "recipient": None}]}
    shares_inner_jwe = jwe(derived["inner"], {"typ": "relicario-inner", **owner_header, "of": "shares"}, shares_inner, fixed("shares inner iv", 12))
    shares = {
        "v": 1, "inner": shares_inner_jwe,
        "shares": [{"share_id": share_id, "secret_id": secret_id, "version": 1, "audience": "public", "rev": 1, "ticket_sha256": b64u(fixed("share ticket")), "created_at": when, "expires_at": when, "revoked_at": None}],
    }
    shares_jwe = jwe(derived["shares"], {"typ": "relicario-shares", **owner_header}, shares, fixed("shares iv", 12))
    request_id = b64u(fixed("request", 16))
    requests_inner = {"v": 1, "requests": [{"request_id": request_id, "link_key": b64u(fixed("request link key")), "note": "for the notary"}]}
    requests_inner_jwe = jwe(derived["inner"], {"typ": "relicario-inner", **owner_header, "of": "requests"}, requests_inner, fixed("requests inner iv", 12))
    requests = {
        "v": 1, "inner": requests_inner_jwe,
        "requests": [{"request_id": request_id, "title": "The deed", "created_at": when, "expires_at": when, "state": "open", "answer_sha256": None}],
    }
    requests_jwe = jwe(derived["requests"], {"typ": "relicario-requests", **owner_header}, requests, fixed("requests iv", 12))
    line = f"{secret_id} 1 1 {hashlib.sha256(label_jwe.encode()).hexdigest()}\n"
    second_id = "019a9e2c-7c1e-7abc-8def-00000000cafe"
    two_lines = line + f"{second_id} 3 7 {hashlib.sha256(b'another label').hexdigest()}\n"
    state = {
        "v": 1, "key_epoch": 1, "state_rev": 1, "count": 1, "root": b64u(sha256(line.encode())),
        "book_sha256": b64u(sha256(book_jwe.encode())), "shares_sha256": b64u(sha256(shares_jwe.encode())),
        "requests_sha256": None,
    }
    state_jwe = jwe(derived["state"], {"typ": "relicario-state", "user_id": user_id, "key_epoch": 1, "previous": None}, state, fixed("state iv", 12))
    next_state = {**state, "state_rev": 2, "requests_sha256": b64u(sha256(requests_jwe.encode()))}
    previous = b64u(sha256(state_jwe.encode()))
    next_jwe = jwe(derived["state"], {"typ": "relicario-state", "user_id": user_id, "key_epoch": 1, "previous": previous}, next_state, fixed("next iv", 12))
    statement = sign("key", {
        "v": 1, "user_id": user_id, "recipient": recipient_of(account_identity), "signing_key": b64u(signing_key), "author_key": b64u(author_key), "key_epoch": 1, "previous_sig": None,
    }, derived["author"])
    rotated_key = fixed("rotated account key")
    rotated_author = hkdf(rotated_key, "relicario/v1/author")
    rotated = {
        "v": 1, "user_id": user_id, "recipient": recipient_of(identity_of(hkdf(rotated_key, "relicario/v1/identity"))), "signing_key": b64u(public_key(hkdf(rotated_key, "relicario/v1/sign"))),
        "author_key": b64u(public_key(rotated_author)), "key_epoch": 2,
    }
    rotated["previous_sig"] = sign("key", rotated, derived["author"])["sig"]
    rotated = sign("key", rotated, rotated_author)
    change = sign("put", {"v": 1, "user_id": user_id, "key_epoch": 1, "state_rev": 2, "state": next_jwe}, derived["sign"])
    unsigned = {"v": 1, "user_id": user_id, "key_epoch": 1, "state_rev": 2, "state": next_jwe, "trash_confirm": [secret_id]}
    authored = sign("put", {**unsigned, "author_sig": sign("author-put", unsigned, derived["author"])["sig"]}, derived["sign"])

    print(json.dumps({
        "about": "Made by make_vectors.py. Bytes are base64url unless a name says otherwise. docs/formats.md explains.",
        "hkdf": [{"secret": b64u(fixed(f"hkdf {i}")), "label": label_, "out": b64u(hkdf(fixed(f"hkdf {i}"), label_))} for i, label_ in enumerate(["relicario/v1/label", "x", ""])],
        "identities": [{"seed": b64u(seed), "identity": identity_of(seed), "recipient": recipient_of(identity_of(seed))} for seed in [fixed("identity"), bytes(32), b"\xff" * 32]],
        "account": {
            "user_id": user_id, "account_key": b64u(account_key), "derived": {name: b64u(value) for name, value in derived.items()},
            "identity": account_identity, "recipient": statement["recipient"], "signing_key": b64u(signing_key),
            "author_key": b64u(author_key),
        },
        "image": {
            "id": image_id, "root": b64u(image_root), "seed": b64u(image_seed), "slot_auth": b64u(slot_auth), "identity": image_identity, "recipient": image_recipient,
        },
        "other_opener": {"identity": other_identity, "recipient": other_recipient},
        "slot": {"document": slot, "sealed": b64u(age_seal([image_recipient], padded(slot)))},
        "helper": {
            "image_secret": b64u(image_secret), "sketch": b64u(sketch), "salt": b64u(parts["salt"]), "nonce": b64u(parts["nonce"]), "image_root": b64u(image_root),
            "unused_bits": b64u(parts["unused_bits"]),
            "helpers": [{**entry, "sketch_salt": b64u(entry["sketch_salt"]), "bytes": b64u(entry["bytes"])} for entry in helpers],
        },
        "padding": {"document": {"a": "b"}, "padded_length": len(padded({"a": "b"})), "text": [{"size": size, "padded_length": 256 * max(1, -(-size // 256))} for size in [0, 1, 255, 256, 257, 512]]},
        "label": {"document": label, "jwe": label_jwe, "secret_id": secret_id, "version": 1, "rev": 1},
        "book": {"document": book, "inner": book_inner, "jwe": book_jwe},
        "shares": {"document": shares, "inner": shares_inner, "jwe": shares_jwe},
        "requests": {"document": requests, "inner": requests_inner, "jwe": requests_jwe},
        "former": {"lines_utf8": former_lines, "versions": former, "former_sha256": b64u(sha256(former_lines.encode()))},
        "root": {"lines_utf8": two_lines, "rows": [{"secret_id": second_id, "version": 3, "rev": 7, "label": "another label"}, {"secret_id": secret_id, "version": 1, "rev": 1, "label": label_jwe}], "root": b64u(sha256(two_lines.encode()))},
        "state": {"first": {"document": state, "jwe": state_jwe}, "second": {"document": next_state, "jwe": next_jwe, "previous": previous}},
        "content": {"identity": content_identity, "sealed": b64u(content), "sha256": b64u(sha256(content)), "text_utf8": text.decode(), "size": len(text)},
        "ticket": {"document": ticket, "sealed": b64u(sealed_ticket)},
        "ticket_signature": {"document": ticket_signature, "signed_bytes": b64u(signed_bytes("author-ticket", ticket_signature))},
        "key_statement": {"document": statement, "signed_bytes": b64u(signed_bytes("key", statement)), "rotated": rotated},
        "keyring_change": {"document": change, "signed_bytes": b64u(signed_bytes("put", change)), "authored": authored, "author_signed_bytes": b64u(signed_bytes("author-put", unsigned))},
    }, indent=1, ensure_ascii=False))


if __name__ == "__main__":
    main()
