import { toSafeFileName } from "./safe-file-name.ts";

describe("toSafeFileName", () => {
  it.each([
    ["secret.txt", "secret.txt"],
    ["../../.profile", "_.._.profile"],
    ["..", "secret"],
    ["", "secret"],
    ['a/b\\c:d*e?f"g<h>i|j', "a_b_c_d_e_f_g_h_i_j"],
    ["CON.txt", "_CON.txt"],
    ["com¹", "_com¹"],
    ["nul .txt", "_nul .txt"],
    ["a\0b\nc\u001b[2J\u202egpj.exe", "a_b_c_[2J_gpj.exe"],
    [" .hidden. ", "hidden"],
    ["Árbol 🌳.pdf", "Árbol 🌳.pdf"],
    ["report.pdf.lnk", "report.pdf.lnk.download"],
    ["report.pdf.LNK. ", "report.pdf.LNK.download"],
    ["photo.jpg.url", "photo.jpg.url.download"],
    ["menu.desktop", "menu.desktop.download"],
    ["report.{00020906-0000-0000-c000-000000000046}", "report.{00020906-0000-0000-c000-000000000046}.download"],
    ["lnk.txt", "lnk.txt"],
  ])("writes %j as %s", (name, safe) => {
    expect(toSafeFileName(name)).toBe(safe);
  });

  it("keeps names short enough for a file system, and their extension", () => {
    const name = toSafeFileName(`${"🌳".repeat(300)}.pdf`);
    expect(new TextEncoder().encode(name).length).toBeLessThanOrEqual(200);
    expect(name).toMatch(/^🌳+\.pdf$/u);
  });
});
