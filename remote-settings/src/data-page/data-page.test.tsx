import { screen, waitFor, within } from "@testing-library/react";
import userEvent from "@testing-library/user-event";

import { maxTitleLength, type Me } from "@relicario/shared/api";
import type { ImportItem, ImportReadResult } from "@relicario/shared/contract";
import { PortalError } from "@relicario/shared/errors";
import {
  createFakeHttpClient,
  createFakeVault,
  expectAccessible,
  createPictureFile,
  readTexts,
  renderApp,
  listTextKeys,
  type FakeHttpClient,
  type FakeVault,
} from "@relicario/shared/testing";
import remote from "../remote.tsx";
import { account } from "../testing/account.ts";

const createItem = (title: string, overrides: Partial<ImportItem> = {}): ImportItem => ({
  title,
  tags: ["Work"],
  contentKind: "text",
  name: "secret.txt",
  mime: "text/plain",
  content: new Blob([title]),
  kind: "login",
  sourceId: `bitwarden_csv:${title}`,
  canonicalContent: title,
  adjustments: [],
  ...overrides,
});
const importReadResult: ImportReadResult = {
  status: "read",
  format: "bitwarden_csv",
  items: [
    createItem("Mail"),
    createItem("Mail (One-time password)", { kind: "one_time_password" }),
    createItem("Untitled", { adjustments: ["title_made"] }),
  ],
  failures: [{ location: "5", reason: "damaged" }],
};
const images = [{ name: "Garden", picture: "garden" }];
const secrets = [{ title: "Kept", content: "x" }];
const createVault = (settings: Parameters<typeof createFakeVault>[0] = {}): FakeVault =>
  createFakeVault({ images, secrets, importReadResult, ...settings });
/** The service's side: changes what it is told to, and gives it back. */
function createService(): FakeHttpClient {
  let currentMe: Me = account;
  return createFakeHttpClient({
    "GET /user/me": () => currentMe,
    "POST /user/me": ({ body }) => (currentMe = { ...currentMe, ...(body as Partial<Me>) }),
  });
}
const renderPage = (vault: FakeVault, settings: Parameters<typeof renderApp>[1] = {}) =>
  renderApp(null, {
    routes: remote.routes,
    route: "/elsewhere",
    path: "/settings/data",
    vault,
    http: createService(),
    ...settings,
  });
const chooseFile = async (name = "bitwarden.csv"): Promise<void> => {
  await userEvent.upload(await screen.findByLabelText("File to import"), new File(["x"], name));
};
const showPicture = async (): Promise<void> => {
  const input = document.querySelector<HTMLInputElement>('input[type="file"]');
  if (input === null) throw new Error("there is no picture field");
  await userEvent.upload(input, createPictureFile("garden"));
};

/** What the page says is not here, one a line. */
const getMissingLines = (): (string | null)[] =>
  within(
    screen.getByRole("list", { name: /^(Not everything in the file is stored|No está guardado todo el archivo)$/ }),
  )
    .getAllByRole("listitem")
    .map(({ textContent }) => textContent);

describe("the page of one's data", () => {
  it("shows what a file becomes, stores what is chosen with one picture, and says to delete the file by its name", async () => {
    const vault = createVault();
    await renderPage(vault);
    await chooseFile();
    expect(await screen.findByRole("heading", { name: "3 items were read" })).toHaveFocus();
    expect(screen.getByText("New: 3. Changed: 0. Already here: 0.")).toBeVisible();
    expect(screen.getByText("5: cannot be read")).toBeVisible();
    expect(screen.getByText(/This portal makes no codes/)).toBeVisible();
    expect(screen.getByText(/had no title/)).toBeVisible();
    await expectAccessible();
    expect(vault.calls).not.toContain("imports.store");
    await userEvent.click(
      within(screen.getByRole("list", { name: "Items of the file" })).getByRole("checkbox", { name: /^Untitled/ }),
    );
    await userEvent.click(screen.getByRole("button", { name: "Import 2 items" }));
    expect(screen.getByText("Choose the picture first.")).toBeVisible();
    await showPicture();
    expect(screen.queryByText("Choose the picture first.")).not.toBeInTheDocument();
    await userEvent.click(screen.getByRole("button", { name: "Import 2 items" }));
    expect(await screen.findByRole("heading", { name: "The import is done" })).toHaveFocus();
    expect(screen.getByText("Added: 2. New versions: 0. Already here: 0.")).toBeVisible();
    expect(screen.getByText("Not everything in the file is stored")).toBeVisible();
    expect(getMissingLines()).toEqual(["Untitled: was not selected", "5: cannot be read"]);
    expect(
      screen.getByText(
        /^bitwarden\.csv holds your secrets in plain text\. Keep it until these entries are elsewhere\./,
      ),
    ).toBeVisible();
    expect(screen.queryByText("Delete the file now")).not.toBeInTheDocument();
    await expectAccessible();
    expect((await vault.list()).map(({ label }) => label?.title)).toEqual(
      expect.arrayContaining(["Mail", "Mail (One-time password)"]),
    );
  });

  it("lets no list of another screen pass for fresh after an import", async () => {
    const { queryClient } = await renderPage(createVault());
    queryClient.setQueryData(["rows"], []);
    await chooseFile();
    await screen.findByRole("heading", { name: "3 items were read" });
    await showPicture();
    expect(queryClient.getQueryState(["rows"])?.isInvalidated).toBe(false);
    await userEvent.click(screen.getByRole("button", { name: "Import 3 items" }));
    await screen.findByRole("heading", { name: "The import is done" });
    expect(queryClient.getQueryState(["rows"])?.isInvalidated).toBe(true);
  });

  it("names what could not be stored, and why", async () => {
    const longTitle = "x".repeat(maxTitleLength + 1);
    await renderPage(
      createVault({
        importReadResult: {
          ...importReadResult,
          items: [createItem("Mail"), createItem("Mine"), createItem(longTitle)],
        },
      }),
    );
    await chooseFile();
    await userEvent.click(await screen.findByRole("checkbox", { name: /^Mail/ }));
    await showPicture();
    await userEvent.click(screen.getByRole("button", { name: "Import 2 items" }));
    await screen.findByRole("heading", { name: "The import is done" });
    expect(getMissingLines()).toEqual([
      `${longTitle}: title, tags or content are not accepted`,
      "Mail: was not selected",
      "5: cannot be read",
    ]);
    expect(screen.getByText("Added: 1. New versions: 0. Already here: 0.")).toBeVisible();
    expect(screen.getByText("Not everything in the file is stored")).toBeVisible();
    expect(screen.queryByText("Delete the file now")).not.toBeInTheDocument();
    await expectAccessible();
  });

  it("names the items whose passkeys stay behind, at the end of an import that brought nothing else wrong, too", async () => {
    await renderPage(
      createVault({
        importReadResult: {
          ...importReadResult,
          items: [createItem("Mail", { omitted: ["passkey"] }), createItem("Mine")],
          failures: [],
        },
      }),
    );
    await chooseFile();
    expect(await screen.findByText("Passkeys stay where they are")).toBeVisible();
    expect(screen.getByText(/without its passkey$/)).toBeVisible();
    await expectAccessible();
    await showPicture();
    await userEvent.click(screen.getByRole("button", { name: "Import 2 items" }));
    await screen.findByRole("heading", { name: "The import is done" });
    expect(getMissingLines()).toEqual(["Mail: without its passkey"]);
    expect(screen.queryByText("Delete the file now")).not.toBeInTheDocument();
  });

  it("names what was in the trash of the other program, on the review and at the end", async () => {
    await renderPage(
      createVault({
        importReadResult: {
          ...importReadResult,
          items: [createItem("Mail")],
          failures: [{ location: "Old forum", reason: "in_trash" }],
        },
      }),
      { language: "es" },
    );
    await userEvent.upload(await screen.findByLabelText("Archivo que importar"), new File(["x"], "datos.zip"));
    expect(await screen.findByText("Old forum: estaba en la papelera")).toBeVisible();
    await showPicture();
    await userEvent.click(screen.getByRole("button", { name: "Importar 1 elemento" }));
    await screen.findByRole("heading", { name: "La importación ha terminado" });
    expect(getMissingLines()).toEqual(["Old forum: estaba en la papelera"]);
    expect(screen.getByText(/^datos\.zip contiene tus secretos en claro\. Consérvalo hasta/)).toBeVisible();
  });

  it("shows all that was left out, a hundred at a time", async () => {
    await renderPage(
      createVault({
        importReadResult: {
          ...importReadResult,
          items: [createItem("Mail")],
          failures: Array.from({ length: 150 }, (_, index) => ({
            location: String(index + 1),
            reason: "damaged" as const,
          })),
        },
      }),
    );
    await chooseFile();
    await screen.findByText("100: cannot be read");
    expect(screen.queryByText("101: cannot be read")).not.toBeInTheDocument();
    await userEvent.click(screen.getByRole("button", { name: "Show more (50)" }));
    expect(screen.getByText("150: cannot be read")).toBeVisible();
  });

  it("asks for the name that is missing, and for the picture that is missing, until they are there", async () => {
    await renderPage(createVault({ images: [], secrets: [], device: "own" }));
    await chooseFile();
    await screen.findByRole("heading", { name: "3 items were read" });
    await userEvent.click(screen.getByRole("button", { name: "Import 3 items" }));
    expect(screen.getByText("Choose the picture first.")).toBeVisible();
    expect(screen.getByText("Give the picture a name first.")).toBeVisible();
    await showPicture();
    expect(screen.queryByText("Choose the picture first.")).not.toBeInTheDocument();
    await userEvent.click(screen.getByRole("button", { name: "Import 3 items" }));
    expect(screen.getByText("Give the picture a name first.")).toBeVisible();
    await expectAccessible();
    await userEvent.type(screen.getByLabelText("Name of the picture"), "Hills");
    expect(screen.queryByText("Give the picture a name first.")).not.toBeInTheDocument();
    await userEvent.click(screen.getByRole("button", { name: "Select none" }));
    await userEvent.click(screen.getByRole("button", { name: "Import 0 items" }));
    expect(screen.getByText("Select at least one item.")).toBeVisible();
    await userEvent.click(screen.getByRole("button", { name: "Select all" }));
    expect(screen.queryByText("Select at least one item.")).not.toBeInTheDocument();
  });

  it("says to delete a file once all of it is stored, also where an entry of it is empty", async () => {
    await renderPage(
      createVault({
        importReadResult: {
          ...importReadResult,
          items: [createItem("Mail")],
          failures: [{ location: "2", reason: "empty" }],
        },
      }),
    );
    await chooseFile();
    await screen.findByRole("heading", { name: "1 item was read" });
    await showPicture();
    await userEvent.click(screen.getByRole("button", { name: "Import 1 item" }));
    expect(await screen.findByText("Delete the file now")).toBeVisible();
    expect(screen.getByText(/^bitwarden\.csv holds your secrets in plain text\. Delete it/)).toBeVisible();
  });

  it("asks whose device this is after an import that an account begins with, until it is answered", async () => {
    await renderPage(createVault({ images: [], secrets: [], device: null }));
    await chooseFile();
    await screen.findByRole("heading", { name: "3 items were read" });
    expect(screen.queryByRole("region", { name: /device/ })).not.toBeInTheDocument();
    await showPicture();
    await userEvent.type(screen.getByLabelText("Name of the picture"), "Hills");
    await userEvent.click(screen.getByRole("button", { name: "Import 3 items" }));
    await screen.findByRole("heading", { name: "The import is done" });
    await userEvent.click(screen.getByRole("button", { name: "My own device" }));
    await waitFor(() => {
      expect(screen.queryByRole("button", { name: "My own device" })).not.toBeInTheDocument();
    });
    expect(screen.getByRole("heading", { name: "The import is done" })).toBeVisible();
  });

  it("says what was stored when an import stops half-way, and goes on with the same file", async () => {
    await renderPage(
      createVault({ importReadResult: { ...importReadResult, failures: [] }, importStopCode: "quota_exceeded" }),
    );
    await chooseFile();
    await screen.findByRole("heading", { name: "3 items were read" });
    await showPicture();
    await userEvent.click(screen.getByRole("button", { name: "Import 3 items" }));
    expect(await screen.findByRole("heading", { name: "The import stopped" })).toHaveFocus();
    expect(screen.getByText("Added: 1. New versions: 0. Already here: 0.")).toBeVisible();
    expect(screen.queryByText("Delete the file now")).not.toBeInTheDocument();
    await expectAccessible();
    await userEvent.click(screen.getByRole("button", { name: "Continue" }));
    expect(await screen.findByText("New: 2. Changed: 0. Already here: 1.")).toBeVisible();
    await showPicture();
    await userEvent.click(screen.getByRole("button", { name: "Import 2 items" }));
    expect(await screen.findByText("Added: 2. New versions: 0. Already here: 1.")).toBeVisible();
    expect(screen.getByText("Delete the file now")).toBeVisible();
  });

  it("adds nothing when the same file is chosen once more", async () => {
    const vault = createVault();
    const { unmount } = await renderPage(vault);
    await chooseFile();
    await screen.findByRole("heading", { name: "3 items were read" });
    await showPicture();
    await userEvent.click(screen.getByRole("button", { name: "Import 3 items" }));
    await screen.findByRole("heading", { name: "The import is done" });
    unmount();
    await renderPage(vault);
    await chooseFile();
    expect(await screen.findByText("New: 0. Changed: 0. Already here: 3.")).toBeVisible();
    expect(screen.queryByRole("button", { name: /^Import \d/ })).not.toBeInTheDocument();
  });

  it("asks for the exit identity of an archive of this portal, and says when it is another one", async () => {
    const vault = createVault({
      importReadResult: (identity) =>
        identity === undefined
          ? { status: "refused", reason: "identity_needed" }
          : identity === "right"
            ? { ...importReadResult, format: "relicario_export" }
            : { status: "refused", reason: "identity_wrong" },
    });
    await renderPage(vault);
    await chooseFile("secrets-export.zip");
    const field = await screen.findByLabelText("Exit identity");
    await userEvent.type(field, "wrong");
    await userEvent.click(screen.getByRole("button", { name: "Open the archive" }));
    expect(await screen.findByText("This identity does not open the archive.")).toBeVisible();
    await expectAccessible();
    await userEvent.clear(screen.getByLabelText("Exit identity"));
    await userEvent.type(screen.getByLabelText("Exit identity"), "right");
    await userEvent.click(screen.getByRole("button", { name: "Open the archive" }));
    expect(await screen.findByRole("heading", { name: "3 items were read" })).toBeVisible();
  });

  it.each([
    ["unknown_format", /none of the files/],
    ["encrypted", /Export it again without a password/],
    ["damaged", /damaged/],
    ["too_large", /too large/],
  ] as const)("says in words why a file is refused: %s", async (reason, expectedText) => {
    await renderPage(createVault({ importReadResult: { status: "refused", reason } }));
    await chooseFile();
    expect(await screen.findByText(expectedText)).toBeVisible();
  });

  it("leads to unlocking on a locked device, and to the export of everything", async () => {
    await renderPage(createVault({ unlocked: false }));
    expect(await screen.findByRole("link", { name: "Unlock" })).toHaveAttribute(
      "href",
      "/provide-image-recovery?then=%2Fsettings%2Fdata",
    );
    expect(screen.getByRole("link", { name: "Export everything" })).toHaveAttribute("href", "/secrets?export=all");
    expect(screen.queryByLabelText("File to import")).not.toBeInTheDocument();
  });

  it.each([
    ["en", "light"],
    ["es", "dark"],
  ] as const)("draws in %s and %s", async (language, theme) => {
    await renderPage(createVault(), { language, theme });
    await waitFor(() => {
      expect(screen.getAllByRole("heading", { level: 2 })).toHaveLength(3);
    });
    expect(await screen.findByRole("switch")).toBeChecked();
    await expectAccessible();
  });

  it.each([
    ["unlocked", true, "Bring secrets here"],
    ["locked", false, "Unlock first"],
  ])("has last what depends on the vault: %s", async (_description, unlocked, last) => {
    await renderPage(createVault({ unlocked }));
    await screen.findByRole("heading", { name: last });
    expect(screen.getAllByRole("heading", { level: 2 }).map((heading) => heading.textContent)).toEqual([
      "Take everything along",
      "Measurements",
      last,
    ]);
  });

  it("has its texts in both languages", () => {
    const [english, spanish] = [readTexts("en", "settings-data"), readTexts("es", "settings-data")];
    if (english === null || spanish === null) throw new Error("a file is missing");
    expect(listTextKeys(spanish)).toEqual(listTextKeys(english));
  });

  it("switches measurements off, at once, and shows what the service has when that fails", async () => {
    const http = createService();
    await renderPage(createVault(), { http });
    const telemetrySwitch = await screen.findByRole("switch", { name: "Allow measurements" });
    expect(telemetrySwitch).toBeChecked();
    await userEvent.click(telemetrySwitch);
    await waitFor(() => {
      expect(telemetrySwitch).toBeEnabled();
    });
    expect(telemetrySwitch).not.toBeChecked();
    expect(http.calls.find(({ method }) => method === "POST")?.body).toEqual({ telemetry: false });
    http.answer("POST /user/me", () => {
      throw new PortalError("service_unavailable");
    });
    await userEvent.click(telemetrySwitch);
    expect(await screen.findByRole("alert")).toHaveTextContent("The service does not answer");
    expect(telemetrySwitch).not.toBeChecked();
  });
});
