import {
  createFakeVault,
  expectAccessible,
  createPictureFile,
  renderApp,
  type FakeSecret,
  wholeText,
} from "@relicario/shared/testing";
import { PortalError } from "@relicario/shared/errors";
import { act, screen, waitFor, within } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { Link } from "react-router-dom";

import SecretsPage from "./SecretsPage.tsx";

const sampleSecrets: readonly FakeSecret[] = [
  { title: "Cold wallet", content: "abandon ability" },
  { title: "House keys", content: "4711", dropped: true },
];

/** Downloaded files. */
const downloads: { name: string; blob: Blob }[] = [];

beforeEach(() => {
  downloads.length = 0;
  let lastBlob: Blob | null = null;
  URL.createObjectURL = (blob: Blob) => {
    lastBlob = blob;
    return "blob:test/1";
  };
  jest.spyOn(HTMLAnchorElement.prototype, "click").mockImplementation(function (this: HTMLAnchorElement) {
    if (lastBlob !== null) downloads.push({ name: this.download, blob: lastBlob });
  });
});
afterEach(() => {
  Reflect.deleteProperty(URL, "createObjectURL");
  jest.restoreAllMocks();
});

async function openPanel(settings: Parameters<typeof renderApp>[1] = {}, unlocked = true) {
  const vault = createFakeVault({ secrets: sampleSecrets, unlocked, images: [{ name: "Garden", picture: "garden" }] });
  const app = await renderApp(
    <main>
      <SecretsPage />
      <Link to="/elsewhere">Elsewhere</Link>
    </main>,
    { vault, path: "/secrets", routePattern: "/secrets", ...settings },
  );
  await userEvent.click(await screen.findByRole("button", { name: "Select" }));
  await userEvent.click(screen.getByRole("button", { name: "Select all" }));
  return { vault, ...app };
}

const startExport = async () => {
  await userEvent.click(
    within(screen.getByRole("group", { name: "Selected secrets" })).getByRole("button", { name: "Export" }),
  );
};

async function exportWith(name: string): Promise<void> {
  await userEvent.upload(screen.getByLabelText("Choose a picture"), createPictureFile(name));
  await userEvent.click(screen.getByRole("button", { name: "Export" }));
}

describe("ExportPanel", () => {
  it("downloads an archive with a picture, and lists skipped secrets", async () => {
    await openPanel();
    await startExport();
    expect(screen.getByRole("heading", { name: "Export 2 secrets" })).toHaveFocus();
    await expectAccessible();
    await userEvent.click(screen.getByRole("button", { name: "Export" }));
    expect(screen.getByText("Choose a picture, a recovery code or a passkey first.")).toBeVisible();
    await exportWith("garden");
    expect(await screen.findByRole("heading", { name: "The archive contains 1 secret" })).toHaveFocus();
    expect(screen.getByText(/House keys/)).toBeVisible();
    expect(downloads.map(({ name }) => name)).toEqual(["secrets-export.zip"]);
    await expectAccessible();
  });

  it("opens with all secrets from the link in the settings, and returns to the list when closed", async () => {
    const vault = createFakeVault({ secrets: sampleSecrets, images: [{ name: "Garden", picture: "garden" }] });
    await renderApp(<SecretsPage />, { vault, path: "/secrets?export=all", routePattern: "/secrets" });
    expect(await screen.findByRole("heading", { name: "Export 2 secrets" })).toBeVisible();
    await userEvent.click(screen.getByRole("button", { name: "Cancel" }));
    expect(await screen.findByText("2 secrets")).toBeVisible();
  });

  it("shows the key of the archive only on request, and closes only after it was saved", async () => {
    await openPanel();
    await startExport();
    await exportWith("garden");
    await screen.findByRole("heading", { name: "The archive contains 1 secret" });
    expect(document.body).not.toHaveTextContent("AGE-SECRET-KEY");
    expect(screen.getByRole("button", { name: "Done" })).toBeDisabled();
    await userEvent.click(screen.getByRole("button", { name: "Save the key (exit.txt)" }));
    expect(downloads.at(-1)?.name).toBe("exit.txt");
    await userEvent.click(screen.getByRole("button", { name: "Show" }));
    expect(screen.getByLabelText("Archive key")).toHaveTextContent("AGE-SECRET-KEY-PQ-1FAKE");
    expect(screen.getByLabelText("Archive key")).toHaveAttribute("translate", "no");
    await userEvent.click(screen.getByRole("button", { name: "Done" }));
    expect(await screen.findByText("2 secrets")).toBeVisible();
    expect(document.body).not.toHaveTextContent("AGE-SECRET-KEY");
  });

  it("counts printing, but not showing, as saving the identity", async () => {
    await openPanel();
    await startExport();
    await exportWith("garden");
    await userEvent.click(await screen.findByRole("button", { name: "Show" }));
    expect(screen.getByRole("button", { name: "Done" })).toBeDisabled();
    window.print = () => {
      window.dispatchEvent(new Event("afterprint"));
    };
    await userEvent.click(screen.getByRole("button", { name: "Print" }));
    expect(screen.getByRole("button", { name: "Done" })).toBeEnabled();
  });

  it("names the secret whose content is damaged", async () => {
    const vault = createFakeVault({ secrets: sampleSecrets, images: [{ name: "Garden", picture: "garden" }] });
    const [firstRow] = await vault.list();
    const damagedVault = {
      ...vault,
      exportSecrets: () =>
        Promise.reject(new PortalError("decryption_failed", { details: { secret_id: firstRow?.secretId ?? "" } })),
    };
    await openPanel({ vault: damagedVault });
    await startExport();
    await exportWith("garden");
    expect(await screen.findByText(wholeText(/“Cold wallet” is damaged/))).toBeVisible();
    expect(downloads).toEqual([]);
  });

  it("lists secrets whose author is not verified", async () => {
    const vault = createFakeVault({
      secrets: [...sampleSecrets, { title: "Left by somebody", content: "x", foreign: true }],
      images: [{ name: "Garden", picture: "garden" }],
    });
    await openPanel({ vault });
    await startExport();
    await exportWith("garden");
    await screen.findByRole("heading", { name: "The archive contains 2 secrets" });
    expect(screen.getByText(/are not signed by you/)).toHaveTextContent(/: Left by somebody\.$/);
  });

  it("asks before stopping a running export by leaving", async () => {
    const vault = createFakeVault({ secrets: sampleSecrets, images: [{ name: "Garden", picture: "garden" }] });
    const { record } = await openPanel({
      confirmAnswer: false,
      vault: { ...vault, exportSecrets: () => new Promise(() => undefined) },
    });
    await startExport();
    await exportWith("garden");
    await userEvent.click(screen.getByRole("link", { name: "Elsewhere" }));
    await waitFor(() => {
      expect(record.confirms.at(-1)?.title).toBe("Stop the export?");
    });
    expect(screen.getByRole("heading", { name: "Export 2 secrets" })).toBeVisible();
  });

  it("asks before losing the identity by leaving", async () => {
    const { record } = await openPanel({ confirmAnswer: false });
    await startExport();
    await exportWith("garden");
    await screen.findByRole("heading", { name: "The archive contains 1 secret" });
    await userEvent.click(screen.getByRole("link", { name: "Elsewhere" }));
    await waitFor(() => {
      expect(record.confirms.at(-1)?.title).toBe("Leave without the archive key?");
    });
    expect(screen.getByRole("heading", { name: "The archive contains 1 secret" })).toBeVisible();
  });

  it("rejects a wrong picture, and accepts the next one", async () => {
    await openPanel();
    await startExport();
    await exportWith("lake");
    expect(await screen.findByRole("alert")).toBeVisible();
    expect(downloads).toEqual([]);
    await exportWith("garden");
    expect(await screen.findByRole("heading", { name: "The archive contains 1 secret" })).toBeVisible();
  });

  it("is not offered on a locked device", async () => {
    await openPanel({}, false);
    expect(
      within(screen.getByRole("group", { name: "Selected secrets" })).queryByRole("button", { name: "Export" }),
    ).not.toBeInTheDocument();
  });

  it("closes on lock", async () => {
    const { vault, record } = await openPanel();
    await startExport();
    await exportWith("garden");
    await userEvent.click(await screen.findByRole("button", { name: "Show" }));
    await act(async () => {
      for (const listener of record.lockListeners) await listener("lock");
      await vault.lock();
    });
    await waitFor(() => {
      expect(document.body).not.toHaveTextContent("AGE-SECRET-KEY");
    });
  });
});
