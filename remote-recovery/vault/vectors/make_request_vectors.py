"""Makes requests.json: fixed vectors of secret requests (docs/formats.md), independently of the vault's code.

As make_vectors.py, whose helpers it takes; the word list comes from the package `mnemonic`.

    pip install cryptography argon2-cffi mnemonic
    python3 make_request_vectors.py > requests.json

Sealed age files differ at every run, as they must; everything else stays the same.
"""
import hashlib
import hmac
import json

from mnemonic import Mnemonic

from make_vectors import age_seal, b64u, fixed, hkdf, identity_of, jcs, jwe, padded, public_key, recipient_of, sha256, sign


def words(label, *parts):
    """The first 88 bits, as eight numbers of 11 bits."""
    bits = "".join(f"{byte:08b}" for byte in sha256(label.encode(), *parts)[:11])
    return [Mnemonic("english").wordlist[int(bits[at : at + 11], 2)] for at in range(0, 88, 11)]


def main():
    user_id = "019a9e2c-7c1e-7abc-8def-0123456789ab"
    when, until = "2026-11-21T10:04:05.678Z", "2026-11-28T10:04:05.678Z"
    account_key = fixed("account key")
    sign_seed, author_seed = hkdf(account_key, "relicario/v1/sign"), hkdf(account_key, "relicario/v1/author")
    identity = identity_of(hkdf(account_key, "relicario/v1/identity"))
    statement = sign("key", {
        "v": 1, "user_id": user_id, "recipient": recipient_of(identity), "signing_key": b64u(public_key(sign_seed)), "author_key": b64u(public_key(author_seed)), "key_epoch": 1, "previous_sig": None,
    }, author_seed)

    link_key = fixed("request link key")
    request_id = b64u(fixed("request", 16))
    link_auth = hkdf(link_key, "relicario/v1/link-auth")
    document = {
        "v": 1, "request_id": request_id, "title": "The deed", "note": "for the notary \U0001F333", "asked_by": "José", "statement": statement, "expires_at": until, "max_size": 1_000_000,
    }
    sealed_document = jwe(hkdf(link_key, "relicario/v1/request"), {"typ": "relicario-request", "request_id": request_id}, document, fixed("request iv", 12))

    text = "the words that were asked for".encode()
    content_identity = identity_of(fixed("provided content"))
    content = age_seal([recipient_of(content_identity)], text + b"\n" * (256 - len(text)))
    ticket = {
        "v": 1, "kind": "provided", "request_id": request_id, "name": "words.txt", "mime": "text/plain", "content_kind": "text", "size": len(text),
        "content_sha256": b64u(sha256(content)), "content_identity": content_identity, "note": "as agreed", "created_at": when,
    }
    ticket["mac"] = b64u(hmac.new(hkdf(link_key, "relicario/v1/provided"), jcs(ticket), hashlib.sha256).digest())
    sealed_ticket = age_seal([statement["recipient"]], padded(ticket))

    print(json.dumps({
        "about": "Made by make_request_vectors.py. Bytes are base64url unless a name says otherwise. docs/formats.md explains.",
        "link": {"link_key": b64u(link_key), "link_auth": b64u(link_auth), "link_auth_sha256": b64u(sha256(link_auth))},
        "request": {"account_key": b64u(account_key), "request_id": request_id, "document": document, "jwe": sealed_document},
        "provided": {"document": ticket, "sealed": b64u(sealed_ticket), "content": b64u(content), "text_utf8": text.decode()},
        "receipt": {"ticket_sha256": b64u(sha256(sealed_ticket)), "words": words("relicario/v1/receipt", sha256(sealed_ticket))},
        "words": [{"ticket_sha256": b64u(fixed(name)), "words": words("relicario/v1/receipt", fixed(name))} for name in ["receipt", "another receipt"]],
    }, indent=1, ensure_ascii=False))


if __name__ == "__main__":
    main()
