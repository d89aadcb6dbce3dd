"""Makes archives.json: exported archives (docs/formats.md) of versions 1 and 2 of the manifest, independently of the vault's code.

As make_vectors.py, whose helpers it takes; the ZIP files are those of Python's zipfile.

    pip install cryptography argon2-cffi
    python3 make_archive_vectors.py > archives.json

Sealed age files differ at every run, as they must; everything else stays the same.
"""
import io
import json
import zipfile

from make_vectors import age_seal, b64u, fixed, hkdf, identity_of, padded, recipient_of, sha256, sign


def secret(secret_id, title, tags, favorite, text, exit_recipient):
    plain = text.encode()
    identity = identity_of(fixed(f"content of {secret_id}"))
    content = age_seal([recipient_of(identity)], plain + b"\n" * (256 - len(plain)))
    ticket = sign("ticket", {
        "v": 1, "kind": "owner", "secret_id": secret_id, "version": 1, "rev": 1, "owner": "019a9e2c-7c1e-7abc-8def-0123456789ab", "title": title, "tags": tags,
        "openers": [], "name": "secret.txt", "mime": "text/plain", "content_kind": "text", "size": len(plain), "content_sha256": b64u(sha256(content)),
        "content_identity": identity, "created_at": "2026-11-21T10:04:05.678Z",
    }, hkdf(fixed("account key"), "relicario/v1/author"))
    sealed = age_seal([exit_recipient], padded(ticket))
    files = {f"{secret_id}.ticket.age": sealed, f"{secret_id}.age": content}
    entry = {
        "secret_id": secret_id, "version": 1, "author": "verified", "favorite": favorite, "ticket": f"{secret_id}.ticket.age", "ticket_sha256": b64u(sha256(sealed)),
        "content": f"{secret_id}.age", "content_sha256": b64u(sha256(content)),
    }
    return files, entry, {"secret_id": secret_id, "title": title, "favorite": favorite, "text_utf8": text}


def archive(version, secrets):
    entries = [{name: value for name, value in entry.items() if version > 1 or name != "favorite"} for _, entry, _ in secrets]
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w", zipfile.ZIP_STORED) as file:
        for files, _, _ in secrets:
            for name, data in files.items():
                file.writestr(zipfile.ZipInfo(name), data)
        file.writestr(zipfile.ZipInfo("manifest.json"), json.dumps({"v": version, "made_at": "2026-11-21T10:04:05.678Z", "secrets": entries}, indent=2) + "\n")
    return {"v": version, "zip": b64u(target.getvalue())}


def main():
    exit_identity = identity_of(fixed("exit"))
    recipient = recipient_of(exit_identity)
    secrets = [
        secret("019a9e2c-7c1e-7abc-8def-00000000beef", "\u00c1rbol \U0001F333", ["paper"], True, "twelve words that nobody else knows\n", recipient),
        secret("019a9e2c-7c1e-7abc-8def-00000000cafe", "House keys", [], False, "under the mat", recipient),
    ]
    print(json.dumps({
        "about": "Made by make_archive_vectors.py. Bytes are base64url unless a name says otherwise. docs/formats.md explains.",
        "exit_identity": exit_identity,
        "archives": [archive(1, secrets), archive(2, secrets)],
        "secrets": [summary for _, _, summary in secrets],
    }, indent=2, ensure_ascii=False))


if __name__ == "__main__":
    main()
