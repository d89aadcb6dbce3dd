import { screen } from "@testing-library/react";
import userEvent from "@testing-library/user-event";

import type { PictureFieldProps, PortalForServices, ShownImage } from "@relicario/shared/contract";
import { createFakeHttp, createFakeVault, picture, renderApp } from "@relicario/shared/testing";

import { PictureField } from "../picture/PictureField.tsx";
import { examinerOf } from "../picture/examiner.ts";
import remote from "../remote.tsx";
import { createAreaVault } from "../testing/area-vault.ts";

const mockExamine = jest.fn();
// The vault has tests of its own; here only what is handed on of it counts.
jest.mock("@relicario/vault", () => ({
  createVault: () => Promise.resolve({ lock: () => Promise.resolve(), examine: mockExamine }),
}));

beforeEach(() => {
  URL.createObjectURL = jest.fn(() => "blob:test/1"); // jsdom has no object URLs
  URL.revokeObjectURL = jest.fn();
});

/** Whether pictures or words can be reached from a value, by any name or symbol. */
function reaches(value: unknown, words: string, seen = new Set<unknown>()): boolean {
  if (typeof value === "string") return value.includes(words);
  if (typeof value !== "object" || value === null || seen.has(value)) return false;
  seen.add(value);
  return value instanceof Blob || Reflect.ownKeys(value).some((name) => reaches(Reflect.get(value, name), words, seen));
}

describe("a form that draws the picture field", () => {
  it.each([
    ["choose", "Passphrase of this image"],
    ["show", "Passphrase, if the picture has one"],
  ] as const)("is told nothing that leads to picture or passphrase (%s)", async (purpose, label) => {
    const told: unknown[] = [];
    let last: ShownImage | null = null;
    const props: PictureFieldProps = {
      purpose,
      value: null,
      onChange: (shown) => {
        told.push(shown);
        last = shown;
      },
      onKnown: (image) => told.push(image),
    };
    const vault = createAreaVault({ images: [{ name: "Garden", picture: "garden", passphrase: "four words" }] });
    await renderApp(<PictureField {...props} />, { vault });
    await userEvent.upload(await screen.findByLabelText("Picture file"), picture("garden"), { applyAccept: false });
    await userEvent.type(await screen.findByLabelText(label), "four words");
    expect(last).not.toBeNull();
    expect(told.filter((one) => reaches(one, "four words"))).toEqual([]);
    expect(reaches({ of: { a: picture("garden") } }, "four words")).toBe(true); // or the search would prove nothing
  });
});

describe("a remote that wants to know whether a picture of its own is in use", () => {
  const portal: PortalForServices = {
    http: createFakeHttp(),
    vendorId: "relicario",
    account: { userId: "u", issuer: "i", subject: "s" },
    signInAgain: () => Promise.resolve({ authTime: 0 }),
    takeLinkSecret: () => Promise.resolve(null),
  };

  it("finds nobody who would judge it: the vault that others are given has no such member", async () => {
    const vault = await remote.provides?.vault?.(portal);
    if (vault === undefined) throw new Error("recovery provides no vault");
    expect(Object.values(vault)).not.toContain(mockExamine);
    expect(examinerOf(vault)).toBe(mockExamine);
    expect(() => examinerOf(createFakeVault())).toThrow("vault_unavailable");
  });
});
