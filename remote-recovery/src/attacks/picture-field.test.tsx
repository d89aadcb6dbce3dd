import { act, screen } from "@testing-library/react";
import userEvent from "@testing-library/user-event";

import type { OpenerHandle, PictureFieldProps } from "@relicario/shared/contract";
import { createFakeVault, createPictureFile, renderApp } from "@relicario/shared/testing";

import { getVaultElement } from "../elements/vault-elements.tsx";
import { createRecoveryFakeVault } from "../testing/recovery-fake-vault.tsx";

beforeEach(() => {
  URL.createObjectURL = jest.fn(() => "blob:test/1"); // jsdom has no object URLs
  URL.revokeObjectURL = jest.fn();
});

/**
 * Whether a Blob or `secretText` is reachable from a value, through any property name or symbol.
 */
function canReach(value: unknown, secretText: string, visited = new Set<unknown>()): boolean {
  if (typeof value === "string") return value.includes(secretText);
  if (typeof value !== "object" || value === null || visited.has(value)) return false;
  visited.add(value);
  return (
    value instanceof Blob ||
    Reflect.ownKeys(value).some((name) => canReach(Reflect.get(value, name), secretText, visited))
  );
}

describe("a form of another remote with the picture field", () => {
  it.each([
    ["choose", "Passphrase of this picture"],
    ["show", "Passphrase, if the picture has one"],
  ] as const)("receives no value that leads to the picture or the passphrase (%s)", async (purpose, label) => {
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
    await renderApp(<vault.PictureField {...props} />, { vault });
    await userEvent.upload(await screen.findByLabelText("Picture file"), createPictureFile("garden"), {
      applyAccept: false,
    });
    await userEvent.type(await screen.findByLabelText(label), "four words");
    expect(lastHandle).not.toBeNull();
    expect(received.filter((value) => canReach(value, "four words"))).toEqual([]);
    // proves that the search finds something
    expect(canReach({ of: { a: createPictureFile("garden") } }, "four words")).toBe(true);
  });

  it("learns neither how long a passphrase is, nor from releasing its handle", async () => {
    const received: (OpenerHandle | null)[] = [];
    const vault = createRecoveryFakeVault({
      images: [{ name: "Garden", picture: "garden", passphrase: "four words" }],
    });
    await renderApp(
      <vault.PictureField
        purpose="show"
        value={null}
        onChange={(openerHandle) => {
          received.push(openerHandle);
        }}
      />,
      { vault },
    );
    await userEvent.upload(await screen.findByLabelText("Picture file"), createPictureFile("garden"), {
      applyAccept: false,
    });
    const passphrase = await screen.findByLabelText("Passphrase, if the picture has one");
    await userEvent.type(passphrase, "f");
    const handle = received.at(-1) ?? null;
    if (handle === null) throw new TypeError("no handle was given");
    const told = received.length;
    await userEvent.type(passphrase, "our words");
    expect(received).toHaveLength(told);
    expect(vault.getPresented(handle)).toMatchObject({ passphrase: "four words" });
    act(() => {
      vault.releaseOpener(handle);
    });
    expect(received.slice(told)).toEqual([null]);
    expect(screen.queryByLabelText("Passphrase, if the picture has one")).toBeNull(); // the person sees it
  });
});

describe("the vault given to other remotes", () => {
  it("has no member that leads to an element", () => {
    const vault = createRecoveryFakeVault();
    const VaultElement = getVaultElement(vault);
    expect(Object.values(vault)).not.toContain(VaultElement);
    expect(getVaultElement(createFakeVault())).not.toBe(VaultElement);
  });
});
