import { screen, waitFor, within } from "@testing-library/react";
import userEvent from "@testing-library/user-event";

import { maxTitleLength, type Me } from "@relicario/shared/api";
import {
  unreadableFormats,
  type ImportItem,
  type ImportReadOptions,
  type ImportReadResult,
} from "@relicario/shared/contract";
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
  wholeText,
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
const importReadResult = {
  status: "read",
  format: "bitwarden_csv",
  items: [
    createItem("Mail"),
    createItem("Code of the mail", { kind: "one_time_password", hasSeeds: true }),
    createItem("Untitled", { adjustments: ["title_made"] }),
  ],
  failures: [{ location: "5", reason: "damaged" }],
  leftOut: [],
} satisfies ImportReadResult;
const images = [{ name: "Garden", picture: "garden" }];
const secrets = [{ title: "Kept", content: "x" }];
const createVault = (settings: Parameters<typeof createFakeVault>[0] = {}): FakeVault =>
  createFakeVault({ images, secrets, importReadResult, ...settings });
/** Fakes the service, which stores the account's changes. */
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
    routePattern: "/elsewhere",
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
  if (input === null) throw new Error("the page has no picture field");
  await userEvent.upload(input, createPictureFile("garden"));
};

/**
 * Finds a line of what was left out by its whole text, because the title in it is a separate
 * element.
 */
const queryLine = (text: string): HTMLElement | null =>
  screen.queryAllByRole("listitem").find(({ textContent }) => textContent === text) ?? null;
const getMissingLines = (): (string | null)[] =>
  within(
    screen.getByRole("list", {
      name: /^(Some entries were not imported or need checking|Hay entradas sin importar o por revisar)$/,
    }),
  )
    .getAllByRole("listitem")
    .map(({ textContent }) => textContent);

describe("the data page", () => {
  it("shows a file's entries, stores the chosen ones with one picture, and says what to do with the file", async () => {
    const vault = createVault();
    await renderPage(vault);
    await chooseFile();
    expect(await screen.findByRole("heading", { name: "3 entries found" })).toHaveFocus();
    expect(screen.getByText("New: 3. Changed: 0. Already here: 0.")).toBeVisible();
    expect(queryLine("5: can't be read and was skipped")).toBeVisible();
    expect(within(queryLine("5: can't be read and was skipped") ?? document.body).getByText("5")).toHaveAttribute(
      "translate",
      "no",
    );
    expect(screen.getByText(/Anyone who opens that record has both the password and the codes/)).toBeVisible();
    expect(screen.getByText(/had no title/)).toBeVisible();
    await expectAccessible();
    expect(vault.calls).not.toContain("imports.store");
    await userEvent.click(
      within(screen.getByRole("list", { name: "Entries in the file" })).getByRole("checkbox", { name: /^Untitled/ }),
    );
    await userEvent.click(screen.getByRole("button", { name: "Import 2 entries" }));
    expect(screen.getByText("Choose a picture, a recovery code or a passkey first.")).toBeVisible();
    await showPicture();
    expect(screen.queryByText("Choose a picture, a recovery code or a passkey first.")).not.toBeInTheDocument();
    await userEvent.click(screen.getByRole("button", { name: "Import 2 entries" }));
    expect(await screen.findByRole("heading", { name: "Import finished" })).toHaveFocus();
    expect(screen.getByText("Added: 2. New versions: 0. Already here: 0.")).toBeVisible();
    expect(screen.getByText("Some entries were not imported or need checking")).toBeVisible();
    expect(getMissingLines()).toEqual(["Untitled: was not selected", "5: can't be read and was skipped"]);
    expect(
      screen.getByText(
        wholeText(
          /^“bitwarden\.csv” contains unencrypted secrets\. Keep it until you have saved these entries elsewhere\./,
        ),
      ),
    ).toBeVisible();
    expect(screen.queryByText("Delete the original now")).not.toBeInTheDocument();
    await expectAccessible();
    expect((await vault.list()).map(({ label }) => label?.title)).toEqual(
      expect.arrayContaining(["Mail", "Code of the mail"]),
    );
  });

  it("invalidates the queries of other screens after an import", async () => {
    const { queryClient } = await renderPage(createVault());
    queryClient.setQueryData(["rows"], []);
    await chooseFile();
    await screen.findByRole("heading", { name: "3 entries found" });
    await showPicture();
    expect(queryClient.getQueryState(["rows"])?.isInvalidated).toBe(false);
    await userEvent.click(screen.getByRole("button", { name: "Import 3 entries" }));
    await screen.findByRole("heading", { name: "Import finished" });
    expect(queryClient.getQueryState(["rows"])?.isInvalidated).toBe(true);
  });

  it("lists the entries that could not be stored, and why", async () => {
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
    await userEvent.click(screen.getByRole("button", { name: "Import 2 entries" }));
    await screen.findByRole("heading", { name: "Import finished" });
    expect(getMissingLines()).toEqual([
      `${longTitle}: has a title, tags or content that are not accepted`,
      "Mail: was not selected",
      "5: can't be read and was skipped",
    ]);
    expect(screen.getByText("Added: 1. New versions: 0. Already here: 0.")).toBeVisible();
    expect(screen.getByText("Some entries were not imported or need checking")).toBeVisible();
    expect(screen.queryByText("Delete the original now")).not.toBeInTheDocument();
    await expectAccessible();
  });

  it("lists the items whose passkeys were not imported, even if everything else was imported", async () => {
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
    expect(await screen.findByText("Passkeys can't be moved")).toBeVisible();
    expect(screen.getByText(/without its passkey$/)).toBeVisible();
    await expectAccessible();
    await showPicture();
    await userEvent.click(screen.getByRole("button", { name: "Import 2 entries" }));
    await screen.findByRole("heading", { name: "Import finished" });
    expect(getMissingLines()).toEqual(["Mail: without its passkey"]);
    expect(screen.queryByText("Delete the original now")).not.toBeInTheDocument();
  });

  it("lists entries in the other program's trash, in the review and in the result", async () => {
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
    await screen.findByText("Old forum");
    expect(queryLine("Old forum: estaba en la papelera y se ha omitido")).toBeVisible();
    await showPicture();
    await userEvent.click(screen.getByRole("button", { name: "Importar 1 entrada" }));
    await screen.findByRole("heading", { name: "Importación terminada" });
    expect(getMissingLines()).toEqual(["Old forum: estaba en la papelera y se ha omitido"]);
    expect(screen.getByText(wholeText(/^«datos\.zip» contiene secretos sin cifrar\. Consérvalo hasta/))).toBeVisible();
  });

  it("shows all entries that were left out, a hundred at a time", async () => {
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
    await screen.findByText("100");
    expect(queryLine("100: can't be read and was skipped")).toBeVisible();
    expect(queryLine("101: can't be read and was skipped")).toBeNull();
    await userEvent.click(screen.getByRole("button", { name: "Show more (50)" }));
    expect(queryLine("150: can't be read and was skipped")).toBeVisible();
  });

  it("shows an error for a missing name or picture until it is given", async () => {
    await renderPage(createVault({ images: [], secrets: [], device: "own" }));
    await chooseFile();
    await screen.findByRole("heading", { name: "3 entries found" });
    await userEvent.click(screen.getByRole("button", { name: "Import 3 entries" }));
    expect(screen.getByText("Choose the picture first.")).toBeVisible();
    expect(screen.getByText("Name the picture first.")).toBeVisible();
    await showPicture();
    expect(screen.queryByText("Choose the picture first.")).not.toBeInTheDocument();
    await userEvent.click(screen.getByRole("button", { name: "Import 3 entries" }));
    expect(screen.getByText("Name the picture first.")).toBeVisible();
    await expectAccessible();
    await userEvent.type(screen.getByLabelText("Name of the picture"), "Hills");
    expect(screen.queryByText("Name the picture first.")).not.toBeInTheDocument();
    await userEvent.click(screen.getByRole("button", { name: "Select none" }));
    await userEvent.click(screen.getByRole("button", { name: "Import 0 entries" }));
    expect(screen.getByText("Select at least one entry.")).toBeVisible();
    await userEvent.click(screen.getByRole("button", { name: "Select all" }));
    expect(screen.queryByText("Select at least one entry.")).not.toBeInTheDocument();
  });

  it("says to delete a file once all its entries are stored, even if one of them is empty", async () => {
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
    await screen.findByRole("heading", { name: "1 entry found" });
    await showPicture();
    await userEvent.click(screen.getByRole("button", { name: "Import 1 entry" }));
    expect(await screen.findByText("Delete the original now")).toBeVisible();
    expect(screen.getByText(wholeText(/^“bitwarden\.csv” contains unencrypted secrets\. Delete it/))).toBeVisible();
  });

  it("asks whose device this is after an empty account's first import", async () => {
    await renderPage(createVault({ images: [], secrets: [], device: null }));
    await chooseFile();
    await screen.findByRole("heading", { name: "3 entries found" });
    expect(screen.queryByRole("region", { name: /device/ })).not.toBeInTheDocument();
    await showPicture();
    await userEvent.type(screen.getByLabelText("Name of the picture"), "Hills");
    await userEvent.click(screen.getByRole("button", { name: "Import 3 entries" }));
    await screen.findByRole("heading", { name: "Import finished" });
    await userEvent.click(screen.getByRole("button", { name: "My own device" }));
    await waitFor(() => {
      expect(screen.queryByRole("button", { name: "My own device" })).not.toBeInTheDocument();
    });
    expect(screen.getByRole("heading", { name: "Import finished" })).toBeVisible();
  });

  it("says what was stored when an import stops half-way, and continues with the same file", async () => {
    await renderPage(
      createVault({ importReadResult: { ...importReadResult, failures: [] }, importStopCode: "quota_exceeded" }),
    );
    await chooseFile();
    await screen.findByRole("heading", { name: "3 entries found" });
    await showPicture();
    await userEvent.click(screen.getByRole("button", { name: "Import 3 entries" }));
    expect(await screen.findByRole("heading", { name: "Import stopped" })).toHaveFocus();
    expect(screen.getByText("Added: 1. New versions: 0. Already here: 0.")).toBeVisible();
    expect(screen.queryByText("Delete the original now")).not.toBeInTheDocument();
    await expectAccessible();
    await userEvent.click(screen.getByRole("button", { name: "Continue" }));
    expect(await screen.findByText("New: 2. Changed: 0. Already here: 1.")).toBeVisible();
    await showPicture();
    await userEvent.click(screen.getByRole("button", { name: "Import 2 entries" }));
    expect(await screen.findByText("Added: 2. New versions: 0. Already here: 1.")).toBeVisible();
    expect(screen.getByText("Delete the original now")).toBeVisible();
  });

  it("adds nothing when the same file is chosen again", async () => {
    const vault = createVault();
    const { unmount } = await renderPage(vault);
    await chooseFile();
    await screen.findByRole("heading", { name: "3 entries found" });
    await showPicture();
    await userEvent.click(screen.getByRole("button", { name: "Import 3 entries" }));
    await screen.findByRole("heading", { name: "Import finished" });
    unmount();
    await renderPage(vault);
    await chooseFile();
    expect(await screen.findByText("New: 0. Changed: 0. Already here: 3.")).toBeVisible();
    expect(screen.getByText("Everything found in this file is already here.")).toBeVisible();
    for (const name of [/^Import \d/, "Select all", "Select none"])
      expect(screen.queryByRole("button", { name })).not.toBeInTheDocument();
  });

  it("asks for the key of an archive of this portal, and says when it is another one", async () => {
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
    const field = await screen.findByLabelText("Archive key");
    await userEvent.type(field, "wrong");
    await userEvent.click(screen.getByRole("button", { name: "Open the archive" }));
    expect(await screen.findByText("This key does not open the archive.")).toBeVisible();
    await expectAccessible();
    await userEvent.clear(screen.getByLabelText("Archive key"));
    await userEvent.type(screen.getByLabelText("Archive key"), "right");
    await userEvent.click(screen.getByRole("button", { name: "Open the archive" }));
    expect(await screen.findByRole("heading", { name: "3 entries found" })).toBeVisible();
  });

  it("shows the names of an item's fields, and of members that are not imported", async () => {
    await renderPage(
      createVault({
        importReadResult: {
          ...importReadResult,
          items: [createItem("Mail", { fieldNames: ["User name", "Password", "PIN"] })],
          leftOut: ["reprompt", "Revision Date"],
        },
      }),
    );
    await chooseFile();
    expect(await screen.findByText(wholeText("Fields: User name, Password, PIN"))).toBeVisible();
    expect(
      screen.getByText(wholeText(/they are empty or used only by the other program: reprompt, Revision Date\.$/)),
    ).toBeVisible();
    await expectAccessible();
  });

  it("asks in which encoding sample values look right, and reads the file in that encoding", async () => {
    const vault = createVault({
      importReadResult: (_, { encoding }) =>
        encoding === "windows-1251"
          ? importReadResult
          : {
              status: "encoding_needed",
              encodings: [
                { encoding: "windows-1252", samples: ["Ïî÷òà", "ïàðîëü"] },
                { encoding: "windows-1251", samples: ["Почта", "пароль"] },
              ],
            },
    });
    await renderPage(vault);
    await chooseFile();
    expect(await screen.findByRole("heading", { name: "Which line looks right?" })).toHaveFocus();
    await expectAccessible();
    await userEvent.click(screen.getByRole("button", { name: "Continue" }));
    expect(screen.getByText("Choose a line first.")).toBeVisible();
    await userEvent.click(screen.getByRole("radio", { name: "Почта · пароль" }));
    await userEvent.click(screen.getByRole("button", { name: "Continue" }));
    expect(await screen.findByRole("heading", { name: "3 entries found" })).toHaveFocus();
  });

  it("asks what each column of an unknown table contains, in Spanish", async () => {
    const asked: ImportReadOptions[] = [];
    const vault = createVault({
      importReadResult: (_, options) => {
        asked.push(options);
        return options.columns === undefined
          ? {
              status: "columns_needed",
              columns: [
                { name: "Web", samples: ["https://a.example"], role: "url" },
                { name: "Clave", samples: [], role: "field" },
              ],
              isFirstRowEntry: options.isFirstRowEntry ?? true,
            }
          : importReadResult;
      },
    });
    await renderPage(vault, { language: "es" });
    await userEvent.upload(await screen.findByLabelText("Archivo que importar"), new File(["x"], "tabla.csv"));
    expect(await screen.findByRole("heading", { name: "¿Qué contiene cada columna?" })).toHaveFocus();
    await expectAccessible();
    await userEvent.click(screen.getByRole("checkbox", { name: /^La primera línea es una entrada/ }));
    expect(screen.getByLabelText("Columna «Web»")).toHaveValue("url");
    await userEvent.selectOptions(screen.getByLabelText("Columna «Clave»"), "Contraseña");
    await userEvent.click(screen.getByRole("button", { name: "Continuar" }));
    expect(await screen.findByRole("heading", { name: "Se han encontrado 3 entradas" })).toBeVisible();
    expect(asked.at(-1)).toMatchObject({ columns: ["url", "password"], isFirstRowEntry: false });
  });

  it("does not call a database with a password unencrypted", async () => {
    await renderPage(createVault({ importReadResult: { ...importReadResult, format: "keepass_kdbx", failures: [] } }));
    await chooseFile("passwords.kdbx");
    await screen.findByRole("heading", { name: "3 entries found" });
    await showPicture();
    await userEvent.click(screen.getByRole("button", { name: "Import 3 entries" }));
    expect(await screen.findByText(wholeText(/^“passwords\.kdbx” still contains what you imported/))).toBeVisible();
    expect(screen.queryByText(/unencrypted/)).not.toBeInTheDocument();
  });

  it("asks for the password of a KeePass database, and rejects a wrong one", async () => {
    const vault = createVault({
      importReadResult: (_, { password }) =>
        password === "right"
          ? { ...importReadResult, format: "keepass_kdbx" }
          : { status: password === undefined ? "password_needed" : "password_wrong" },
    });
    await renderPage(vault);
    await chooseFile("passwords.kdbx");
    await userEvent.type(await screen.findByLabelText("Database password"), "wrong");
    await userEvent.click(screen.getByRole("button", { name: "Continue" }));
    expect(await screen.findByText("Wrong password.")).toBeVisible();
    await expectAccessible();
    await userEvent.clear(screen.getByLabelText("Database password"));
    await userEvent.type(screen.getByLabelText("Database password"), "right");
    await userEvent.click(screen.getByRole("button", { name: "Continue" }));
    expect(await screen.findByRole("heading", { name: "3 entries found" })).toBeVisible();
  });

  it.each(unreadableFormats)("says what to export in place of a file that cannot be read: %s", async (format) => {
    await renderPage(createVault({ importReadResult: { status: "refused", reason: "unreadable_format", format } }));
    await chooseFile();
    expect(await screen.findByText(/^This /)).toHaveTextContent(/(?:KDBX|1PUX|CSV|JSON|otpauth|Export|password|XML)/);
  });

  it.each([
    ["unknown_format", /can't read this kind of file/],
    ["encrypted", /Export it again without a password/],
    ["damaged", /damaged/],
    ["too_large", /too large/],
  ] as const)("says why a file is refused: %s", async (reason, expectedText) => {
    await renderPage(createVault({ importReadResult: { status: "refused", reason } }));
    await chooseFile();
    expect(await screen.findByText(expectedText)).toBeVisible();
  });

  it("links, on a locked device, to unlocking and to the export of everything", async () => {
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
  ] as const)("is accessible in %s and %s", async (language, theme) => {
    await renderPage(createVault(), { language, theme });
    await waitFor(() => {
      expect(screen.getAllByRole("heading", { level: 2 })).toHaveLength(3);
    });
    expect(await screen.findByRole("switch")).toBeChecked();
    await expectAccessible();
  });

  it.each([
    ["unlocked", true, "Import"],
    ["locked", false, "Unlock your secrets first"],
  ])("shows the part that depends on the vault last: %s", async (_description, unlocked, last) => {
    await renderPage(createVault({ unlocked }));
    await screen.findByRole("heading", { name: last });
    expect(screen.getAllByRole("heading", { level: 2 }).map((heading) => heading.textContent)).toEqual([
      "Export",
      "Usage measurements",
      last,
    ]);
  });

  it("has its texts in both languages", () => {
    const [english, spanish] = [readTexts("en", "settings-data"), readTexts("es", "settings-data")];
    if (english === null || spanish === null) throw new Error("a locale file is missing");
    expect(listTextKeys(spanish)).toEqual(listTextKeys(english));
  });

  it("switches measurements off at once, and shows the stored setting when that fails", async () => {
    const http = createService();
    await renderPage(createVault(), { http });
    const telemetrySwitch = await screen.findByRole("switch", { name: "Allow usage measurements" });
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
    expect(await screen.findByRole("alert")).toHaveTextContent("The service is not responding");
    expect(telemetrySwitch).not.toBeChecked();
  });
});
