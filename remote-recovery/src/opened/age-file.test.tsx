import { describeAgeFile, formatIdentityFile } from "./age-file.ts";

const size = 3;

describe("describeAgeFile", () => {
  it("returns names and the command that opens them", () => {
    expect(describeAgeFile({ name: "secret.txt", size })).toEqual({
      sealedName: "secret.txt.age",
      identityName: "secret.txt.identity.txt",
      command: "age -d -i secret.txt.identity.txt secret.txt.age | head -c 3",
    });
  });

  it.each([
    ["mi clave (1).txt", "mi-clave-1-.txt.age"],
    ["$(rm -rf ~).txt", "rm-rf-.txt.age"],
    ["-i.txt", "i.txt.age"],
    ["../../etc/passwd", "etc-passwd.age"],
    ["`x`;y|z&w>v", "x-y-z-w-v.age"],
    ["ключ", "secret.age"],
    ["contraseña.txt", "contrasena.txt.age"],
    ["", "secret.age"],
  ])("turns %j into one shell word: %s", (name, sealedName) => {
    expect(describeAgeFile({ name, size }).sealedName).toBe(sealedName);
    expect(sealedName).toMatch(/^[A-Za-z0-9._][A-Za-z0-9._-]*$/);
  });
});

it("writes an identity file of one line", () => {
  expect(formatIdentityFile("AGE-SECRET-KEY-PQ-1X")).toBe("AGE-SECRET-KEY-PQ-1X\n");
});
