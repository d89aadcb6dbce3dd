import { commonPasswords } from "./common-passwords.ts";
import { hashPassword, findPasswordProblem, verifyPassword } from "./passwords.ts";

describe("findPasswordProblem", () => {
  it.each([
    ["", "password_missing"],
    ["nine long", "password_short"],
    ["💚💚💚💚💚", "password_short"], // five characters, whatever their size in memory
    ["x1".repeat(129), "password_long"],
    ["Ana.Garcia", "password_is_name"],
    ["ANA@example.org", "password_is_name"],
    ["Password123", "password_common"],
    ["contrasen\u0303a123", "password_common"], // ñ as two characters
    ["zzzzzzzzzzzz", "password_common"],
  ])("refuses %j", (password, problem) => {
    expect(findPasswordProblem(password, "ana.garcia", "ana@example.org")).toBe(problem);
  });

  it.each(["ten chars!", "  spaces count  ", "llueve sobre mojado", "💚🔒📷🗝️🌊💚🔒📷🗝️🌊"])(
    "accepts %j",
    (password) => {
      expect(findPasswordProblem(password, "ana", "ana@example.org")).toBeNull();
    },
  );
});

describe("commonPasswords", () => {
  it("has hundreds of entries, all long enough and in lower case", () => {
    expect(commonPasswords.size).toBeGreaterThan(300);
    for (const password of commonPasswords)
      expect([Array.from(password).length >= 10, password.toLowerCase()]).toEqual([true, password]);
  });
});

/** Of "llueve sobre mojado", by hash-wasm 4.13. */
const legacyHash = "$argon2id$v=19$m=19456,t=2,p=1$CQkJCQkJCQkJCQkJCQkJCQ$ZoX0M6TiW+3KU4RDTd3ozgwq7F8cUmg2Xo2hzNWsZK4";

describe("verifyPassword", () => {
  it("accepts only the right password", async () => {
    const hash = await hashPassword("llueve sobre mojado");
    expect(await verifyPassword("llueve sobre mojado", hash)).toBe(true);
    for (const otherPassword of ["llueve sobre mojado ", "Llueve sobre mojado", "", "x".repeat(100_000)])
      expect(await verifyPassword(otherPassword, hash)).toBe(false);
  });

  it.each<[string, () => Promise<unknown>]>([
    ["hashing", () => hashPassword("llueve sobre mojado")],
    ["comparing", async () => verifyPassword("llueve sobre mojado", legacyHash)],
  ])("does not block the event loop while it is %s", async (_, runHash) => {
    const [processUsage, threadUsage] = [process.cpuUsage(), process.threadCpuUsage()];
    for (let round = 0; round < 4; round++) await runHash();
    // processor time is independent of the machine's load
    const [processDelta, threadDelta] = [process.cpuUsage(processUsage), process.threadCpuUsage(threadUsage)];
    // nearly 1 when computed on the event loop, at once or in steps
    expect((threadDelta.user + threadDelta.system) / (processDelta.user + processDelta.system)).toBeLessThan(0.5);
  });

  it("accepts a hash that another library made", async () => {
    expect(await verifyPassword("llueve sobre mojado", legacyHash)).toBe(true);
    expect(await verifyPassword("llueve sobre seco", legacyHash)).toBe(false);
  });

  it("throws on anything but an Argon2id hash", async () => {
    for (const hash of [
      "",
      "llueve sobre mojado",
      legacyHash.replace("argon2id", "argon2i"),
      legacyHash.replace("v=19", "v=16"),
    ]) {
      await expect(verifyPassword("llueve sobre mojado", hash)).rejects.toThrow("not an Argon2id hash");
    }
  });

  it("accepts ñ and é in both encodings", async () => {
    expect(await verifyPassword("man\u0303ana sere\u0301", await hashPassword("ma\u00f1ana ser\u00e9"))).toBe(true);
  });

  it("refuses every password without an account", async () => {
    expect(await verifyPassword("llueve sobre mojado", undefined)).toBe(false);
  });

  it("produces a different hash each time", async () => {
    expect(await hashPassword("llueve sobre mojado")).not.toBe(await hashPassword("llueve sobre mojado"));
  });
});
