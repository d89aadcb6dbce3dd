import decodeQr from "qr/decode.js";
import {
  createFakeVault,
  expectAccessible,
  createPictureFile,
  renderApp,
  type FakeSecret,
  wholeText,
} from "@relicario/shared/testing";
import { act, screen, waitFor, within } from "@testing-library/react";
import userEvent from "@testing-library/user-event";

import SafeguardPage from "./SafeguardPage.tsx";

const fakeSecrets: readonly FakeSecret[] = [
  { title: "Cold wallet", content: "abandon ability" },
  { title: "The deed", content: "of the house", foreign: true },
  { title: "Film", content: "long", large: true },
  { title: "In the trash", content: "x", deleted: true },
];

/** Names of downloaded files. */
const savedNames: string[] = [];

beforeEach(() => {
  savedNames.length = 0;
  URL.createObjectURL = jest.fn(() => "blob:test/1"); // jsdom has no object URLs
  URL.revokeObjectURL = jest.fn();
  jest.spyOn(HTMLAnchorElement.prototype, "click").mockImplementation(function (this: HTMLAnchorElement) {
    savedNames.push(this.download);
  });
});
afterEach(() => {
  jest.restoreAllMocks();
});

async function renderPage(
  settings: Parameters<typeof createFakeVault>[0] = {},
  language: "en" | "es" = "en",
  path = "/safeguard",
) {
  const vault = createFakeVault({ secrets: fakeSecrets, images: [{ name: "Garden", picture: "garden" }], ...settings });
  const app = await renderApp(
    <main>
      <SafeguardPage />
    </main>,
    { vault, path, routePattern: "/safeguard", language },
  );
  return { vault, ...app };
}

async function createKitWith(name: string): Promise<void> {
  await userEvent.upload(await screen.findByLabelText("Choose a picture"), createPictureFile(name));
  await userEvent.click(screen.getByRole("button", { name: "Make the kit" }));
}

describe("the kit on Safeguard", () => {
  it("downloads a kit of all secrets, with its attachments, and lists it", async () => {
    await renderPage();
    await expectAccessible();
    expect((await screen.findAllByRole("checkbox")).map((box) => box.closest("label")?.textContent)).toEqual([
      "Cold wallet",
      "The deed",
      "Film",
    ]);
    await createKitWith("garden");
    expect(await screen.findByRole("heading", { name: "The kit is ready" })).toHaveFocus();
    expect(savedNames).toEqual([expect.stringMatching(/^kit-\d{4}-\d{2}-\d{2}\.html$/)]);
    expect(screen.getByText("This kit has no passphrase")).toBeVisible();
    expect(screen.getByText(wholeText(/are not signed by you: The deed\.$/))).toBeVisible();
    await userEvent.click(screen.getByRole("button", { name: /^Save .*\.age$/ }));
    expect(savedNames[1]).toMatch(/\.age$/);
    const kits = within(await screen.findByRole("region", { name: "Kits you have made" }));
    expect(kits.getByText("Up to date")).toBeVisible();
    expect(kits.getByText(wholeText("Contains: Cold wallet, The deed, Film."))).toBeVisible();
    await expectAccessible();
  });

  it("does not count a kit as a saved picture", async () => {
    await renderPage({}, "en", "/safeguard?secret=one");
    await createKitWith("garden");
    await screen.findByRole("heading", { name: "The kit is ready" });
    expect(screen.getByRole("link", { name: "Continue" })).toHaveAttribute("href", "/congrats?secret=one");
    expect(screen.queryByRole("link", { name: "I have saved copies of my picture" })).toBeNull();
  });

  it("invalidates lists of other screens, whose rows show kits", async () => {
    const { queryClient } = await renderPage();
    await screen.findByLabelText("Choose a picture");
    queryClient.setQueryData(["rows"], []);
    await createKitWith("garden");
    await screen.findByRole("heading", { name: "The kit is ready" });
    expect(queryClient.getQueryState(["rows"])?.isInvalidated).toBe(true);
  });

  it("requires secrets and a picture, and rejects a wrong picture", async () => {
    await renderPage();
    await userEvent.click(await screen.findByRole("button", { name: "Select none" }));
    await userEvent.click(screen.getByRole("button", { name: "Make the kit" }));
    expect(screen.getByText("Choose at least one secret.")).toBeVisible();
    await userEvent.click(screen.getByRole("checkbox", { name: "The deed" }));
    await userEvent.click(screen.getByRole("button", { name: "Make the kit" }));
    expect(screen.getByText("Choose the picture first.")).toBeVisible();
    await createKitWith("lake");
    expect(await screen.findByRole("alert")).toBeVisible();
    expect(savedNames).toEqual([]);
    await createKitWith("garden");
    expect(await screen.findByText(wholeText("Contains: The deed."))).toBeVisible();
  });

  it("marks outdated kits, and lists the changed secrets", async () => {
    const kit = { sha256: "ab".repeat(32), createdAt: "2026-11-02T10:00:00.000Z" };
    await renderPage({
      secrets: [
        { title: "Edited", content: "x", kits: [{ ...kit, outdated: true }] },
        {
          title: "Same",
          content: "x",
          kits: [
            { ...kit, outdated: false },
            { sha256: "cd".repeat(32), createdAt: "2026-11-03T10:00:00.000Z", outdated: false },
          ],
        },
      ],
    });
    const entries = within(await screen.findByRole("region", { name: "Kits you have made" })).getAllByRole("listitem");
    expect(entries.map((entry) => within(entry).queryByText("Out of date") !== null)).toEqual([false, true]);
    expect(entries[1]).toHaveTextContent("Contains: Edited, Same.");
    expect(entries[1]).toHaveTextContent("Changed since then: Edited.");
    expect(entries[1]).toHaveTextContent("Fingerprint (SHA-256) begins with abababababababab");
    await expectAccessible();
  });

  it("prints a sheet with digest, QR code and lines to fill in, but no titles of secrets", async () => {
    const print = jest.fn();
    window.print = print;
    const { vault } = await renderPage();
    await createKitWith("garden");
    await userEvent.click(await screen.findByRole("button", { name: "Print the sheet" }));
    expect(print).toHaveBeenCalledTimes(1);
    const sheet = document.querySelector("[data-print]");
    const sha256 = (await vault.list())[0]?.label?.kits[0]?.sha256 ?? "";
    expect(sheet).toHaveTextContent("Where copies of the picture are kept");
    expect(sheet).toHaveTextContent("The kit has no passphrase");
    expect(sheet?.querySelector("code")?.textContent.replaceAll(" ", "")).toBe(sha256);
    expect(sheet?.querySelector("svg")).toHaveAttribute("aria-label", sha256);
    expect(readQr(sheet?.querySelector("svg") ?? null)).toBe(sha256);
    for (const { title } of fakeSecrets) expect(sheet).not.toHaveTextContent(title);
    act(() => {
      window.dispatchEvent(new Event("afterprint"));
    });
    await waitFor(() => {
      expect(document.querySelector("[data-print]")).toBeNull();
    });
  });

  it("cancels the operation, and keeps the form", async () => {
    const vault = createFakeVault({ secrets: fakeSecrets, images: [{ name: "Garden", picture: "garden" }] });
    const signals: (AbortSignal | undefined)[] = [];
    const pendingVault: typeof vault = {
      ...vault,
      createKit: (_secretIds, _opener, options) => {
        signals.push(options?.signal);
        return new Promise(() => undefined);
      },
    };
    await renderApp(
      <main>
        <SafeguardPage />
      </main>,
      { vault: pendingVault, path: "/safeguard", routePattern: "/safeguard" },
    );
    await createKitWith("garden");
    await userEvent.click(await screen.findByRole("button", { name: "Cancel" }));
    expect(signals.map((signal) => signal?.aborted)).toEqual([true]);
    expect(screen.getByRole("button", { name: "Make the kit" })).toBeEnabled();
  });

  it.each([
    ["en", "Unlock with your picture"],
    ["es", "Desbloquear con tu imagen"],
  ] as const)("asks to unlock on a locked device, in %s", async (language, action) => {
    await renderPage({ unlocked: false }, language);
    expect(await screen.findByRole("link", { name: action })).toHaveAttribute(
      "href",
      "/provide-image-recovery?then=%2Fsafeguard",
    );
    expect(screen.queryByRole("checkbox")).not.toBeInTheDocument();
    await expectAccessible();
  });
});

/** Decodes a QR code that is drawn with one square per module. */
function readQr(svg: SVGSVGElement | null): string {
  const side = Number(svg?.getAttribute("viewBox")?.split(" ")[2]);
  const scale = 4;
  const width = side * scale;
  const data = new Uint8ClampedArray(width * width * 4).fill(255);
  for (const [, x, y] of (svg?.querySelector("path")?.getAttribute("d") ?? "").matchAll(/M(\d+) (\d+)h1v1h-1z/g)) {
    for (let row = 0; row < scale; row += 1) {
      const start = ((Number(y) * scale + row) * width + Number(x) * scale) * 4;
      for (let index = start; index < start + scale * 4; index += 1) data[index] = index % 4 === 3 ? 255 : 0;
    }
  }
  return decodeQr({ width, height: width, data });
}
