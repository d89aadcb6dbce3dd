"""Makes device-links.json: fixed vectors of another device by one at hand (docs/formats.md), independently of the vault's code.

As make_vectors.py, whose helpers it takes; words and checksums come from the package `mnemonic`.

    pip install cryptography argon2-cffi mnemonic
    python3 make_device_link_vectors.py > device-links.json

The sealed slot differs at every run, as it must; everything else stays the same.
"""
import hashlib
import hmac
import json

from mnemonic import Mnemonic

from make_vectors import age_seal, b64u, fixed, hkdf, identity_of, jcs, jwe, padded, recipient_of, sha256


def main():
    user_id = "019a9e2c-7c1e-7abc-8def-0123456789ab"
    opener_id = "019a9e2c-7c1e-7abc-8def-00000000000d"
    code = fixed("device code", 16)
    link_id = b64u(hkdf(code, "relicario/v1/link-device-id")[:16])
    key = hkdf(code, "relicario/v1/link-device")
    header = {"typ": "relicario-link-device", "user_id": user_id, "id": link_id}

    prf = fixed("device prf")
    seed = hkdf(prf, "relicario/v1/passkey-identity")
    slot_auth = hkdf(seed, "relicario/v1/slot-auth")
    recipient = recipient_of(identity_of(seed))
    request = {"v": 1, "user_id": user_id, "opener": {"id": opener_id, "kind": "passkey", "name": "New laptop", "recipient": recipient, "slot_auth": b64u(slot_auth)}}
    answer = {"v": 1, "user_id": user_id, "state_rev": 7, "state_sha256": b64u(sha256(b"a state"))}

    account_key = fixed("account key")
    slot = {"v": 1, "kind": "slot", "user_id": user_id, "opener_id": opener_id, "key_epoch": 1, "account_key": b64u(account_key)}
    slot["mac"] = b64u(hmac.new(slot_auth, jcs(slot), hashlib.sha256).digest())

    print(json.dumps({
        "about": "Made by make_device_link_vectors.py. Bytes are base64url unless a name says otherwise. docs/formats.md explains.",
        "code": {"bytes": b64u(code), "words": Mnemonic("english").to_mnemonic(code).split(" "), "link_id": link_id},
        "request": {"document": request, "jwe": jwe(key, header, request, fixed("device request iv", 12))},
        "answer": {"document": answer, "jwe": jwe(key, header, answer, fixed("device answer iv", 12))},
        "slot": {"prf": b64u(prf), "account_key": b64u(account_key), "sealed": b64u(age_seal([recipient], padded(slot)))},
    }, indent=1, ensure_ascii=False))


if __name__ == "__main__":
    main()
