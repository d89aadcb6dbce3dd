import { screen, waitFor, within } from "@testing-library/react";
import userEvent from "@testing-library/user-event";

import {
  createFakeVault,
  expectAccessible,
  renderApp,
  type FakeUpload,
  type FakeVaultSettings,
  createOpenerHandle,
  wholeText,
} from "@relicario/shared/testing";
import { WaitingUploads } from "./WaitingUploads.tsx";

const film: FakeUpload = { title: "Film", content: "frames of a film", sentBytes: 6 };
const createFile = (text: string) => new File([text], "film.mp4", { type: "video/mp4" });

async function renderUploads(
  uploads: readonly FakeUpload[] = [film],
  vaultSettings: FakeVaultSettings = {},
  settings: Parameters<typeof renderApp>[1] = {},
) {
  const vault = createFakeVault({ images: [{ name: "Lake", picture: "lake" }], uploads, ...vaultSettings });
  const app = await renderApp(
    <main>
      <h1>Home</h1>
      <WaitingUploads vault={vault} status={vault.getState().status} />
    </main>,
    { vault, ...settings },
  );
  return { vault, ...app };
}

describe("WaitingUploads", () => {
  it("renders nothing without uploads", async () => {
    await renderUploads([]);
    expect(screen.queryByRole("heading", { name: "Uploads in progress" })).not.toBeInTheDocument();
  });

  it("shows an upload's progress, and what the upload needs to continue", async () => {
    await renderUploads();
    expect(
      await screen.findByText(wholeText(/^film\.mp4: 6 bytes of 16 bytes uploaded\. Choose the same file again/)),
    ).toBeVisible();
    expect(screen.getByRole("progressbar", { name: "Uploaded so far" })).toBeVisible();
    await expectAccessible();
  });

  it("continues with the same file, and reports success", async () => {
    const { vault, record } = await renderUploads();
    await userEvent.upload(await screen.findByLabelText("The file of Film"), createFile("frames of a film"));
    await waitFor(() => {
      expect(record.notices.at(-1)).toEqual({ tone: "success", text: "Your file is protected." });
    });
    expect(await vault.listUploads()).toEqual([]);
    expect(screen.queryByRole("heading", { name: "Uploads in progress" })).not.toBeInTheDocument();
  });

  it("rejects another file, keeps the parts that were sent, and then accepts the right file", async () => {
    const { vault } = await renderUploads();
    await userEvent.upload(await screen.findByLabelText("The file of Film"), createFile("another film"));
    expect(await screen.findByRole("alert")).toBeVisible();
    expect(await vault.listUploads()).toMatchObject([{ sentBytes: 6 }]);
    await userEvent.upload(screen.getByLabelText("The file of Film"), createFile("frames of a film"));
    await waitFor(async () => {
      expect(await vault.listUploads()).toEqual([]);
    });
  });

  it.each(["file_changed", "upload_dropped"] as const)(
    "offers to restart after %s, with a newly chosen file",
    async (code) => {
      const { vault, record } = await renderUploads([{ ...film, needsFile: false }]);
      vault.failWith("resumeUpload", code);
      await userEvent.click(await screen.findByRole("button", { name: "Continue: Film" }));
      expect(await screen.findByRole("button", { name: "Upload it again from the start: Film" })).toBeVisible();
      await expectAccessible();
      await userEvent.upload(
        screen.getByLabelText("The file of Film, to upload it again from the start"),
        createFile("another film"),
      );
      await waitFor(() => {
        expect(record.notices.at(-1)).toEqual({ tone: "success", text: "Your file is protected." });
      });
      expect([vault.calls.filter((call) => call === "restartUpload").length, await vault.listUploads()]).toEqual([
        1,
        [],
      ]);
    },
  );

  describe.each(["opener_needed", "show_opener_first"] as const)("after %s", (code) => {
    const choosesPicture = code === "opener_needed";
    /** A new picture is accepted only if an opener was presented before. */
    const acceptedPicture = choosesPicture ? "forest" : "lake";
    async function openPrompt(upload: FakeUpload, vaultSettings?: FakeVaultSettings) {
      const rendered = await renderUploads([upload], vaultSettings);
      if (choosesPicture) await rendered.vault.openers.recognise(createOpenerHandle(createFile("lake")));
      rendered.vault.failWith("resumeUpload", code);
      await userEvent.click(await screen.findByRole("button", { name: /^(Continue|Save): Film$/ }));
      return {
        ...rendered,
        group: await screen.findByRole("group", {
          name: choosesPicture ? "Picture for Film" : "Way to open for Film",
        }),
      };
    }
    const submitPicture = () =>
      userEvent.click(
        screen.getByRole("button", { name: choosesPicture ? "Save with this picture: Film" : "Use it and save: Film" }),
      );

    it.each([
      ["whose parts were all sent", { ...film, state: "sealed", sentBytes: 16, needsFile: false }],
      ["that has parts to send", { ...film, needsFile: false }],
    ] as const)("asks for a picture, and publishes an upload %s", async (_, upload) => {
      const { vault, record, group } = await openPrompt(upload);
      expect(within(group).getByText(/What was uploaded is kept\.$/)).toHaveFocus();
      expect(screen.queryByRole("button", { name: /^(Continue|Save): Film$/ })).not.toBeInTheDocument();
      await expectAccessible();
      vault.failWith("resumeUpload", null);
      await userEvent.upload(within(group).getByLabelText("Choose a picture"), createFile(acceptedPicture));
      await submitPicture();
      await waitFor(() => {
        expect(record.notices.at(-1)).toEqual({ tone: "success", text: "Your file is protected." });
      });
      expect(vault.resumedPictures).toEqual(
        choosesPicture ? [{ name: "Picture 2", picture: acceptedPicture, passphrase: null }] : [],
      );
      expect([vault.calls.includes("unlock"), await vault.listUploads()]).toEqual([!choosesPicture, []]);
    });

    it("sends nothing without a picture, and can discard the upload", async () => {
      const { vault, group } = await openPrompt({ ...film, needsFile: false });
      await submitPicture();
      expect(
        within(group).getByText(/^Choose (the picture first, and its passphrase|a picture, a recovery code)/),
      ).toBeVisible();
      expect(vault.calls.filter((call) => call === "resumeUpload")).toHaveLength(1);
      await userEvent.click(screen.getByRole("button", { name: "Discard: Film" }));
      await waitFor(async () => {
        expect(await vault.listUploads()).toEqual([]);
      });
    });

    it("keeps the picture if its passphrase is missing, and then accepts both", async () => {
      const { vault, group } = await openPrompt(
        { ...film, needsFile: false },
        choosesPicture
          ? {}
          : { images: [{ name: "Lake", picture: "lake", passphrase: "a quiet lake below seven hills" }] },
      );
      vault.failWith(choosesPicture ? "resumeUpload" : "unlock", "picture_needs_passphrase");
      await userEvent.upload(within(group).getByLabelText("Choose a picture"), createFile(acceptedPicture));
      await submitPicture();
      await waitFor(() => {
        expect(screen.getByRole("alert")).toHaveTextContent(/passphrase/);
      });
      vault.failWith("resumeUpload", null);
      vault.failWith("unlock", null);
      await userEvent.type(within(group).getByLabelText("Passphrase"), "a quiet lake below seven hills");
      await submitPicture();
      await waitFor(async () => {
        expect(await vault.listUploads()).toEqual([]);
      });
      expect(vault.resumedPictures.map(({ picture, passphrase }) => [picture, passphrase])).toEqual(
        choosesPicture
          ? [
              [acceptedPicture, null],
              [acceptedPicture, "a quiet lake below seven hills"],
            ]
          : [],
      );
    });

    it("sends the picture together with the file if the file must be chosen again", async () => {
      const { vault } = await renderUploads();
      if (choosesPicture) await vault.openers.recognise(createOpenerHandle(createFile("lake")));
      vault.failWith("resumeUpload", code);
      await userEvent.upload(await screen.findByLabelText("The file of Film"), createFile("frames of a film"));
      await userEvent.upload(await screen.findByLabelText("Choose a picture"), createFile(acceptedPicture));
      vault.failWith("resumeUpload", null);
      await submitPicture();
      await userEvent.upload(screen.getByLabelText("The file of Film"), createFile("frames of a film"));
      await waitFor(async () => {
        expect(await vault.listUploads()).toEqual([]);
      });
      expect(vault.resumedPictures).toMatchObject(choosesPicture ? [{ picture: acceptedPicture }] : []);
    });
  });

  it("creates an empty account with the upload's picture", async () => {
    const { vault } = await renderUploads(
      [{ ...film, state: "sealed", sentBytes: 16, needsFile: false }],
      { images: [] },
      { language: "es" },
    );
    expect(vault.getState().status).toBe("empty");
    await userEvent.click(await screen.findByRole("button", { name: /^Guardar/ }));
    await userEvent.upload(await screen.findByLabelText("Choose a picture"), createFile("lake"));
    await userEvent.click(screen.getByRole("button", { name: /^Guardar con esta imagen: / }));
    await waitFor(() => {
      expect(vault.getState().status).toBe("unlocked");
    });
    expect([await vault.listUploads(), vault.resumedPictures]).toEqual([
      [],
      [{ name: "Imagen 1", picture: "lake", passphrase: null }],
    ]);
  });

  it("continues without a file if the upload needs none", async () => {
    const { vault } = await renderUploads([{ ...film, needsFile: false }]);
    await userEvent.click(await screen.findByRole("button", { name: "Continue: Film" }));
    await waitFor(async () => {
      expect(await vault.listUploads()).toEqual([]);
    });
  });

  it("publishes a sealed upload once the device is unlocked", async () => {
    const { vault } = await renderUploads([{ ...film, state: "sealed", sentBytes: 16, needsFile: false }], {
      unlocked: false,
    });
    await userEvent.click(await screen.findByRole("button", { name: /^Save/ }));
    expect(await screen.findByRole("alert")).toBeVisible(); // locked: the upload stays sealed
    expect(await vault.listUploads()).toHaveLength(1);
    await vault.unlock(createOpenerHandle(createFile("lake")));
    await userEvent.click(screen.getByRole("button", { name: /^Save/ }));
    await waitFor(async () => {
      expect(await vault.listUploads()).toEqual([]);
    });
  });

  describe("the expiry of a waiting upload", () => {
    const now = new Date(2026, 10, 21, 18, 0).getTime(); // local time
    const createExpiringUpload = (...time: [day: number, hour: number, minute: number]) => ({
      ...film,
      needsFile: false,
      expiresAt: new Date(2026, 10, ...time).toISOString(),
    });

    const getWarnings = () =>
      screen
        .queryAllByRole("status")
        .flatMap((status) => (status.dataset["tone"] === "warn" ? [status.textContent] : []));

    beforeEach(() => {
      jest.spyOn(Date, "now").mockReturnValue(now);
    });
    afterEach(() => {
      jest.restoreAllMocks();
    });

    it("is shown as plain text while more than three hours are left", async () => {
      await renderUploads([{ ...createExpiringUpload(22, 14, 5), state: "sealed" }], { unlocked: false });
      expect(
        await screen.findByText("Unlock this device before 14:05 tomorrow, or the file has to be uploaded again."),
      ).toBeVisible();
      expect(getWarnings()).toEqual([]);
    });

    it("is shown as a warning in the last three hours", async () => {
      await renderUploads([{ ...createExpiringUpload(21, 20, 59), state: "sealed" }], { unlocked: false });
      await screen.findByRole("heading", { level: 3 });
      expect(getWarnings()).toEqual(["Unlock this device before 20:59 today, or the file has to be uploaded again."]);
      await expectAccessible();
    });

    it("is shown with the next action, to continue or to publish", async () => {
      await renderUploads([createExpiringUpload(22, 9, 0), { ...createExpiringUpload(22, 10, 0), state: "sealed" }]);
      expect(await screen.findByText("Continue before 09:00 tomorrow, or it has to be uploaded again.")).toBeVisible();
      expect(screen.getByText("Save it before 10:00 tomorrow, or it has to be uploaded again.")).toBeVisible();
    });

    it("is shown in Spanish, and not while the upload runs", async () => {
      await renderUploads(
        [
          { ...createExpiringUpload(21, 19, 30), state: "sealed" },
          { ...createExpiringUpload(21, 19, 31), state: "running" },
        ],
        { unlocked: false },
        { language: "es" },
      );
      await screen.findAllByRole("heading", { level: 3 });
      expect(getWarnings()).toEqual([
        "Desbloquea este dispositivo antes de las 19:30 de hoy, o habrá que subir el archivo de nuevo.",
      ]);
    });
  });

  it("shows neither title nor file name while locked", async () => {
    await renderUploads([film], { unlocked: false });
    expect(await screen.findByRole("heading", { level: 3, name: /^Upload of / })).toBeVisible();
    expect(screen.queryByText(/film/i)).not.toBeInTheDocument();
  });

  it("is discarded only after a confirmation", async () => {
    const { vault, record } = await renderUploads();
    await userEvent.click(await screen.findByRole("button", { name: "Discard: Film" }));
    await waitFor(async () => {
      expect(await vault.listUploads()).toEqual([]);
    });
    expect(record.confirms).toHaveLength(1);
    const declined = await renderUploads([film], {}, { confirmAnswer: false });
    await userEvent.click(await screen.findByRole("button", { name: "Discard: Film" }));
    expect(await declined.vault.listUploads()).toHaveLength(1);
  });

  it("renders in Spanish and in the dark theme", async () => {
    await renderUploads([film], {}, { language: "es", theme: "dark" });
    expect(await screen.findByRole("heading", { name: "Subidas en curso" })).toBeVisible();
    await expectAccessible();
  });
});
