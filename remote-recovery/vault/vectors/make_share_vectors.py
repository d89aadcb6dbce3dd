"""Makes shares.json: fixed vectors of links, share tickets and people's words (docs/formats.md), independently of the vault's code.

As make_vectors.py, whose helpers it takes; the word list comes from the package `mnemonic`.

    pip install cryptography argon2-cffi mnemonic
    python3 make_share_vectors.py > shares.json

Sealed age files differ at every run, as they must; everything else stays the same.
"""
import json
import unicodedata

from argon2.low_level import Type, hash_secret_raw

from make_request_vectors import words
from make_vectors import age_seal, b64u, fixed, hkdf, identity_of, padded, public_key, recipient_of, sha256, sign


def stretch_link_key(link_key, share_id, password):
    if not password:
        return link_key
    typed = unicodedata.normalize("NFC", password).encode()
    salt = sha256(b"relicario/v1/link-salt", share_id.encode())[:16]
    secret = link_key + len(typed).to_bytes(4, "little") + typed
    return hash_secret_raw(secret, salt, time_cost=3, memory_cost=64 * 1024, parallelism=1, hash_len=32, type=Type.ID)


def link(link_key, share_id, password, image_root):
    key = stretch_link_key(link_key, share_id, password)
    identity = identity_of(hkdf(key + (image_root or b""), "relicario/v1/link-id"))
    return {
        "password": password, "image_root": None if image_root is None else b64u(image_root), "stretched": b64u(key),
        "link_auth": b64u(hkdf(link_key, "relicario/v1/link-auth")), "pass_auth": b64u(hkdf(key, "relicario/v1/pass-auth")),
        "identity": identity, "recipient": recipient_of(identity),
    }


def main():
    user_id = "019a9e2c-7c1e-7abc-8def-0123456789ab"
    account_key = fixed("account key")
    sign_seed, author_seed = hkdf(account_key, "relicario/v1/sign"), hkdf(account_key, "relicario/v1/author")
    link_key, share_id = fixed("share link key"), b64u(fixed("share", 16))
    links = [link(link_key, share_id, password, root) for password, root in [(None, None), ("cafe\u0301 número 1", None), (None, fixed("share image root")), ("four words", fixed("share image root"))]]

    text = "the words that were shared".encode()
    content_identity = identity_of(fixed("shared content"))
    content = age_seal([recipient_of(content_identity)], text + b"\n" * (256 - len(text)))
    recipient = links[0]["recipient"]
    ticket = sign("ticket", {
        "v": 1, "kind": "share", "share_id": share_id, "audience": "public", "secret_id": "019a9e2c-7c1e-7abc-8def-0123456789ac", "version": 2, "rev": 1, "owner": user_id,
        "owner_key": b64u(public_key(author_seed)), "recipient": b64u(sha256(recipient.encode())), "title": "The deed \U0001F333", "tags": [], "name": "deed.txt", "mime": "text/plain",
        "content_kind": "text", "size": len(text), "content_sha256": b64u(sha256(content)), "content_identity": content_identity, "created_at": "2026-11-21T10:04:05.678Z",
    }, author_seed)

    account_recipient = recipient_of(identity_of(hkdf(account_key, "relicario/v1/identity")))
    print(json.dumps({
        "about": "Made by make_share_vectors.py. Bytes are base64url unless a name says otherwise. docs/formats.md explains.",
        "link": {"link_key": b64u(link_key), "share_id": share_id, "links": links},
        "share_ticket": {"document": ticket, "sealed": b64u(age_seal([recipient], padded(ticket))), "content": b64u(content), "text_utf8": text.decode()},
        "people": {
            "user_id": user_id, "recipient": account_recipient, "signing_key": b64u(public_key(sign_seed)), "author_key": b64u(public_key(author_seed)),
            "words": words("relicario/v1/words", user_id.encode(), account_recipient.encode(), public_key(sign_seed), public_key(author_seed)),
        },
    }, indent=1, ensure_ascii=False))


if __name__ == "__main__":
    main()
