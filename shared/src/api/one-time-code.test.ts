import { computeOneTimeCode, countPeriods, formatOneTimeCode, parseOneTimeCode } from "./one-time-code.ts";

const base32 = (text: string): string => {
  const bits = Array.from(new TextEncoder().encode(text), (byte) => byte.toString(2).padStart(8, "0")).join("");
  return (bits.match(/.{1,5}/g) ?? [])
    .map((group) => "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567".charAt(parseInt(group.padEnd(5, "0"), 2)))
    .join("");
};
const computeAt = (address: string, seconds: number): Promise<string> => {
  const settings = parseOneTimeCode(address);
  if (settings === null) throw new Error("the URL must be a valid one-time code");
  return computeOneTimeCode(settings, countPeriods(settings, seconds * 1000));
};
const seed20 = "12345678901234567890";

it("computeOneTimeCode returns the codes of RFC 4226", async () => {
  const settings = parseOneTimeCode(`otpauth://hotp/x?secret=${base32(seed20)}`);
  if (settings === null) throw new Error("the URL must be a valid one-time code");
  const codes = await Promise.all(Array.from({ length: 10 }, (_, counter) => computeOneTimeCode(settings, counter)));
  expect(codes.join(" ")).toBe("755224 287082 359152 969429 338314 254676 287922 162583 399871 520489");
});

const seedsByAlgorithm = {
  SHA1: seed20,
  SHA256: "12345678901234567890123456789012",
  SHA512: "1234567890123456789012345678901234567890123456789012345678901234",
} as const;

it.each([
  [59, "94287082", "SHA1"],
  [59, "46119246", "SHA256"],
  [59, "90693936", "SHA512"],
  [1111111109, "07081804", "SHA1"],
  [1111111109, "68084774", "SHA256"],
  [1111111109, "25091201", "SHA512"],
  [1111111111, "14050471", "SHA1"],
  [1111111111, "67062674", "SHA256"],
  [1111111111, "99943326", "SHA512"],
  [1234567890, "89005924", "SHA1"],
  [1234567890, "91819424", "SHA256"],
  [1234567890, "93441116", "SHA512"],
  [2000000000, "69279037", "SHA1"],
  [2000000000, "90698825", "SHA256"],
  [2000000000, "38618901", "SHA512"],
  [20000000000, "65353130", "SHA1"],
  [20000000000, "77737706", "SHA256"],
  [20000000000, "47863826", "SHA512"],
] as const)("computeOneTimeCode returns RFC 6238's code at %d s: %s with %s", async (seconds, code, algorithm) => {
  const address = `otpauth://totp/x?secret=${base32(seedsByAlgorithm[algorithm])}&digits=8&algorithm=${algorithm}`;
  expect(await computeAt(address, seconds)).toBe(code);
});

it.each([
  [1511200518, "FR8RV"],
  [1511200714, "9P3VP"],
])("computeOneTimeCode returns Steam's known code at %d seconds", async (seconds, code) => {
  const seed = "63BEDWCQZKTQWPESARIERL5DTTQFCJTK";
  const address = `otpauth://totp/test:test@example.com?secret=${seed}&issuer=Valve&algorithm=SHA1&digits=5&period=30&encoder=steam`;
  expect(await computeAt(address, seconds)).toBe(code);
  expect(await computeAt(`steam://${seed}`, seconds)).toBe(code);
});

it.each([
  ["a raw # in its label", "otpauth://totp/Team #1:ana?secret=JBSWY3DP&period=60"],
  ["a raw # in its issuer", "otpauth://totp/ana?issuer=Team #1&secret=JBSWY3DP&period=60"],
  ["a fragment", "otpauth://totp/ana?secret=JBSWY3DP&period=60#top"],
  ["names in capitals", "otpauth://totp/ana?SECRET=JBSWY3DP&Period=60"],
  ["a period with a decimal point", "otpauth://totp/ana?secret=JBSWY3DP&period=60.0"],
])("parseOneTimeCode reads an address with %s", (_name, address) => {
  const settings = parseOneTimeCode("otpauth://totp/ana?secret=JBSWY3DP&period=60");
  expect(settings).toMatchObject({ period: 60 });
  expect(parseOneTimeCode(address)).toEqual(settings);
});

it("parseOneTimeCode refuses a period with a fraction", () => {
  expect(parseOneTimeCode("otpauth://totp/ana?secret=JBSWY3DP&period=30.5")).toBeNull();
});

it.each([
  ["123456", "123 456"],
  ["12345678", "1234 5678"],
  ["1234567", "1234567"],
  ["FR8RV", "FR8RV"],
])("formatOneTimeCode formats %s as %s", (code, text) => {
  expect(formatOneTimeCode(code)).toBe(text);
});
