"""Makes records.json: fixed vectors of records and one-time codes (docs/formats.md), independently of the portal's code.

Standard library only.

    python3 make_record_vectors.py > records.json
"""
import base64
import hashlib
import hmac
import json
import struct

STEAM = "23456789BCDFGHJKMNPQRTVWXY"


def code(secret, counter, algorithm="sha1", digits=6, steam=False):
    """RFC 4226 5.3; Steam writes the same number in letters, the last one first."""
    mac = hmac.new(secret, struct.pack(">Q", counter), getattr(hashlib, algorithm)).digest()
    offset = mac[-1] & 15
    number = struct.unpack(">I", mac[offset : offset + 4])[0] & 0x7FFFFFFF
    if not steam:
        return str(number % 10**digits).zfill(digits)
    letters = ""
    for _ in range(digits):
        letters += STEAM[number % 26]
        number //= 26
    return letters


def base32(secret):
    return base64.b32encode(secret).decode().rstrip("=")


def codes():
    secret, odd = b"12345678901234567890", bytes(range(1, 18))
    seed = base32(secret)
    timed = [
        (seed.lower(), secret, 30, {}),
        (" ".join(seed[at : at + 4] for at in range(0, len(seed), 4)), secret, 30, {}),
        (base32(odd) + "=====", odd, 30, {}),
        (f"otpauth://totp/Mail:ana?secret={seed}&issuer=Mail", secret, 30, {}),
        (f"otpauth://totp/x?secret={seed}&algorithm=SHA256&digits=8&period=60", secret, 60, {"algorithm": "sha256", "digits": 8}),
        (f"OTPAUTH://TOTP/x?secret={seed}&algorithm=HmacSHA512&digits=7", secret, 30, {"algorithm": "sha512", "digits": 7}),
        (f"otpauth://totp/x?secret={seed}&digits=10&period=15", secret, 15, {"digits": 10}),
        (f"otpauth://totp/Team #1:ana?issuer=Team #1&SECRET={seed}&Period=60.0#top", secret, 60, {}),
        (f"steam://{seed}", secret, 30, {"digits": 5, "steam": True}),
        (f"otpauth://steam/x?secret={seed}", secret, 30, {"digits": 5, "steam": True}),
        (f"otpauth://totp/x?secret={seed}&encoder=steam", secret, 30, {"digits": 5, "steam": True}),
    ]
    for text, key, period, settings in timed:
        for at in (59, 1_111_111_109, 20_000_000_000):
            yield {"text": text, "time": at, "code": code(key, at // period, **settings)}
    for counter in (0, 5, 2**32 + 1):
        yield {"text": f"otpauth://hotp/x?secret={seed}&counter={counter}", "counter": counter, "code": code(secret, counter)}


def field(label="Password", value="pw", kind="secret", **more):
    return {"label": label, "value": value, "kind": kind, **more}


def records():
    login = [
        field("User name", "ana ñ ☕", "text"),
        field("Password", ' p"a,\u001b\u0000ss\r\n'),
        field("One-time code", "JBSWY3DPEHPK3PXP", "one_time_code"),
        field("Website", "https://mail.example/?a=1&b=2", "address"),
        field("Since", "2024-02-29", "date"),
        field("Note", "First line\r\n\tsecond", "note"),
    ]
    valid = {
        "of all kinds": {"v": 1, "fields": login},
        "of members in another order": {"fields": [{"kind": "text", "value": "b", "label": "a"}], "v": 1},
        "of labels of objects": {"v": 1, "fields": [field("constructor"), field("__proto__")]},
    }
    invalid = {
        "another version": {"v": 2, "fields": login},
        "no version": {"fields": login},
        "another member": {"v": 1, "fields": login, "title": "x"},
        "no field": {"v": 1, "fields": []},
        "fields that are no list": {"v": 1, "fields": {"0": field()}},
        "a field that is a text": {"v": 1, "fields": ["x"]},
        "another member in a field": {"v": 1, "fields": [field(hint="x")]},
        "an empty label": {"v": 1, "fields": [field(label="")]},
        "a label of 201 characters": {"v": 1, "fields": [field(label="x" * 201)]},
        "a line end in a label": {"v": 1, "fields": [field(label="a\nb")]},
        "half a character in a label": {"v": 1, "fields": [field(label="\ud800")]},
        "half a character in a value": {"v": 1, "fields": [field(value="\ud800")]},
        "an empty value": {"v": 1, "fields": [field(value="")]},
        "a value that is a number": {"v": 1, "fields": [field(value=7)]},
        "a kind that is not known": {"v": 1, "fields": [field(kind="html")]},
        "a control character in a text": {"v": 1, "fields": [field(value="a\u001bb", kind="text")]},
        "a day that does not exist": {"v": 1, "fields": [field(value="2023-02-29", kind="date")]},
        "a day with a time": {"v": 1, "fields": [field(value="2023-02-01T00:00", kind="date")]},
    }
    for name, document in valid.items():
        yield {"name": name, "text": json.dumps(document, ensure_ascii=False, indent=1), "fields": document["fields"]}
    for name, document in invalid.items():
        yield {"name": name, "text": json.dumps(document), "fields": None}
    for name, text in {"no JSON": "User name: ana", "nothing": "", "a list": "[]", "null": "null"}.items():
        yield {"name": name, "text": text, "fields": None}


print(json.dumps({
    "about": "Made by make_record_vectors.py. docs/formats.md explains.",
    "records": list(records()),
    "codes": list(codes()),
    "no_codes": [
        "", "not base32: 1", "otpauth://totp/x", "otpauth://totp/x?secret=JBSWY3DP&algorithm=MD5", "otpauth://totp/x?secret=JBSWY3DP&digits=3",
        "otpauth://totp/x?secret=JBSWY3DP&period=0", "otpauth://totp/x?secret=JBSWY3DP&period=30.5", "otpauth://hotp/x?secret=JBSWY3DP&counter=-1", "otpauth://motp/x?secret=JBSWY3DP", "https://example.org/",
    ],
}, indent=1))
