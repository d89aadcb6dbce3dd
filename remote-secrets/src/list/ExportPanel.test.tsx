import {
  createFakeVault,
  expectAccessible,
  createPictureFile,
  renderApp,
  type FakeSecret,
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

/** What was handed to the downloads: name and text. */
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
    { vault, path: "/secrets", route: "/secrets", ...settings },
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
  it("saves an archive with a picture, and names what was left out", async () => {
    await openPanel();
    await startExport();
    expect(screen.getByRole("heading", { name: "Export 2 secrets" })).toHaveFocus();
    await expectAccessible();
    await userEvent.click(screen.getByRole("button", { name: "Export" }));
    expect(screen.getByText("Choose the picture first.")).toBeVisible();
    await exportWith("garden");
    expect(await screen.findByRole("heading", { name: "1 secret is in the archive" })).toHaveFocus();
    expect(screen.getByText(/House keys/)).toBeVisible();
    expect(downloads.map(({ name }) => name)).toEqual(["secrets-export.zip"]);
    await expectAccessible();
  });

  it("is open with everything that is kept where settings lead to it, and ends in the list", async () => {
    const vault = createFakeVault({ secrets: sampleSecrets, images: [{ name: "Garden", picture: "garden" }] });
    await renderApp(<SecretsPage />, { vault, path: "/secrets?export=all", route: "/secrets" });
    expect(await screen.findByRole("heading", { name: "Export 2 secrets" })).toBeVisible();
    await userEvent.click(screen.getByRole("button", { name: "Cancel" }));
    expect(await screen.findByText("2 secrets")).toBeVisible();
  });

  it("shows the exit identity when asked alone, and ends once it was taken", async () => {
    await openPanel();
    await startExport();
    await exportWith("garden");
    await screen.findByRole("heading", { name: "1 secret is in the archive" });
    expect(document.body).not.toHaveTextContent("AGE-SECRET-KEY");
    expect(screen.getByRole("button", { name: "Done" })).toBeDisabled();
    await userEvent.click(screen.getByRole("button", { name: "Save as exit.txt" }));
    expect(downloads.at(-1)?.name).toBe("exit.txt");
    await userEvent.click(screen.getByRole("button", { name: "Show" }));
    expect(screen.getByLabelText("Exit identity")).toHaveTextContent("AGE-SECRET-KEY-PQ-1FAKE");
    await userEvent.click(screen.getByRole("button", { name: "Done" }));
    expect(await screen.findByText("2 secrets")).toBeVisible();
    expect(document.body).not.toHaveTextContent("AGE-SECRET-KEY");
  });

  it("does not count a look as taking the identity along, but a print", async () => {
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
    expect(await screen.findByText(/“Cold wallet” is damaged/)).toBeVisible();
    expect(downloads).toEqual([]);
  });

  it("names those whose author is not verified", async () => {
    const vault = createFakeVault({
      secrets: [...sampleSecrets, { title: "Left by somebody", content: "x", foreign: true }],
      images: [{ name: "Garden", picture: "garden" }],
    });
    await openPanel({ vault });
    await startExport();
    await exportWith("garden");
    await screen.findByRole("heading", { name: "2 secrets are in the archive" });
    expect(screen.getByText(/do not carry your signature/)).toHaveTextContent(/: Left by somebody\.$/);
  });

  it("asks before a running export is stopped by leaving", async () => {
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

  it("asks before the identity is left behind", async () => {
    const { record } = await openPanel({ confirmAnswer: false });
    await startExport();
    await exportWith("garden");
    await screen.findByRole("heading", { name: "1 secret is in the archive" });
    await userEvent.click(screen.getByRole("link", { name: "Elsewhere" }));
    await waitFor(() => {
      expect(record.confirms.at(-1)?.title).toBe("Leave without the exit identity?");
    });
    expect(screen.getByRole("heading", { name: "1 secret is in the archive" })).toBeVisible();
  });

  it("says that it is not this picture, and lets the next one try", async () => {
    await openPanel();
    await startExport();
    await exportWith("lake");
    expect(await screen.findByRole("alert")).toBeVisible();
    expect(downloads).toEqual([]);
    await exportWith("garden");
    expect(await screen.findByRole("heading", { name: "1 secret is in the archive" })).toBeVisible();
  });

  it("is not offered on a locked device", async () => {
    await openPanel({}, false);
    expect(
      within(screen.getByRole("group", { name: "Selected secrets" })).queryByRole("button", { name: "Export" }),
    ).not.toBeInTheDocument();
  });

  it("is gone with the lock", async () => {
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
