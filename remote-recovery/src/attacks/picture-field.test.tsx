import { screen } from "@testing-library/react";
import userEvent from "@testing-library/user-event";

import type { PictureFieldProps, PortalForServices, OpenerHandle } from "@relicario/shared/contract";
import { createFakeHttpClient, createFakeVault, createPictureFile, renderApp } from "@relicario/shared/testing";

import { PictureField } from "../picture/PictureField.tsx";
import { examinerOf } from "../picture/examiner.ts";
import remote from "../remote.tsx";
import { createRecoveryFakeVault } from "../testing/recovery-fake-vault.ts";

const mockExamine = jest.fn();
// The vault has tests of its own; here only what is handed on of it counts.
jest.mock("@relicario/vault", () => ({
  createVault: () => Promise.resolve({ vault: { lock: () => Promise.resolve() }, examine: mockExamine }),
}));

beforeEach(() => {
  URL.createObjectURL = jest.fn(() => "blob:test/1"); // jsdom has no object URLs
  URL.revokeObjectURL = jest.fn();
});

/** Whether pictures or words can be reached from a value, by any name or symbol. */
function canReach(value: unknown, secretText: string, visited = new Set<unknown>()): boolean {
  if (typeof value === "string") return value.includes(secretText);
  if (typeof value !== "object" || value === null || visited.has(value)) return false;
  visited.add(value);
  return (
    value instanceof Blob ||
    Reflect.ownKeys(value).some((name) => canReach(Reflect.get(value, name), secretText, visited))
  );
}

describe("a form that draws the picture field", () => {
  it.each([
    ["choose", "Passphrase of this image"],
    ["show", "Passphrase, if the picture has one"],
  ] as const)("is told nothing that leads to picture or passphrase (%s)", async (purpose, label) => {
    const received: unknown[] = [];
    let lastHandle: OpenerHandle | null = null;
    const props: PictureFieldProps = {
      purpose,
      value: null,
      onChange: (openerHandle) => {
        received.push(openerHandle);
        lastHandle = openerHandle;
      },
      onRecognise: (image) => received.push(image),
    };
    const vault = createRecoveryFakeVault({
      images: [{ name: "Garden", picture: "garden", passphrase: "four words" }],
    });
    await renderApp(<PictureField {...props} />, { vault });
    await userEvent.upload(await screen.findByLabelText("Picture file"), createPictureFile("garden"), {
      applyAccept: false,
    });
    await userEvent.type(await screen.findByLabelText(label), "four words");
    expect(lastHandle).not.toBeNull();
    expect(received.filter((value) => canReach(value, "four words"))).toEqual([]);
    // or the search would prove nothing
    expect(canReach({ of: { a: createPictureFile("garden") } }, "four words")).toBe(true);
  });
});

describe("a remote that wants to know whether a picture of its own is in use", () => {
  const portal: PortalForServices = {
    http: createFakeHttpClient(),
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
