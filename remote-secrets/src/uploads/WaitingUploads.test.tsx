import { screen, waitFor, within } from "@testing-library/react";
import userEvent from "@testing-library/user-event";

import {
  createFakeVault,
  expectAccessible,
  renderApp,
  type FakeUpload,
  type FakeVaultSettings,
  createOpenerHandle,
} from "@relicario/shared/testing";
import { WaitingUploads } from "./WaitingUploads.tsx";

const film: FakeUpload = { title: "Film", content: "frames of a film", sent: 6 };
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
  it("is not there when nothing waits", async () => {
    await renderUploads([]);
    expect(screen.queryByRole("heading", { name: "Files on their way" })).not.toBeInTheDocument();
  });

  it("says how far an upload is, and what it needs to go on", async () => {
    await renderUploads();
    expect(await screen.findByText(/^film\.mp4\. 6 bytes of 16 bytes sent\. Choose the same file again/)).toBeVisible();
    expect(screen.getByRole("progressbar", { name: "Sent so far" })).toBeVisible();
    await expectAccessible();
  });

  it("goes on with the same file chosen again, and says when it is protected", async () => {
    const { vault, record } = await renderUploads();
    await userEvent.upload(await screen.findByLabelText("The file of Film"), createFile("frames of a film"));
    await waitFor(() => {
      expect(record.notices.at(-1)).toEqual({ tone: "success", text: "Your file is protected." });
    });
    expect(await vault.listUploads()).toEqual([]);
    expect(screen.queryByRole("heading", { name: "Files on their way" })).not.toBeInTheDocument();
  });

  it("refuses another file, keeps what was sent, and takes the right one then", async () => {
    const { vault } = await renderUploads();
    await userEvent.upload(await screen.findByLabelText("The file of Film"), createFile("another film"));
    expect(await screen.findByRole("alert")).toBeVisible();
    expect(await vault.listUploads()).toMatchObject([{ sent: 6 }]);
    await userEvent.upload(screen.getByLabelText("The file of Film"), createFile("frames of a film"));
    await waitFor(async () => {
      expect(await vault.listUploads()).toEqual([]);
    });
  });

  it.each(["file_changed", "upload_dropped"] as const)(
    "offers to send it again from the start after %s, and does so with the file chosen then",
    async (code) => {
      const { vault, record } = await renderUploads([{ ...film, needsFile: false }]);
      vault.failWith("resumeUpload", code);
      await userEvent.click(await screen.findByRole("button", { name: "Continue: Film" }));
      expect(await screen.findByRole("button", { name: "Send it again from the start: Film" })).toBeVisible();
      await expectAccessible();
      await userEvent.upload(
        screen.getByLabelText("The file of Film, to send it again from the start"),
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
    /** A new picture will do only where an opener was shown before. */
    const acceptedPicture = code === "opener_needed" ? "forest" : "lake";
    async function openPrompt(upload: FakeUpload, vaultSettings?: FakeVaultSettings) {
      const rendered = await renderUploads([upload], vaultSettings);
      if (code === "opener_needed") await rendered.vault.openers.recognise(createOpenerHandle(createFile("lake")));
      rendered.vault.failWith("resumeUpload", code);
      await userEvent.click(await screen.findByRole("button", { name: /^(Continue|Publish): Film$/ }));
      return { ...rendered, group: await screen.findByRole("group", { name: "The picture for Film" }) };
    }
    const submitPicture = () =>
      userEvent.click(screen.getByRole("button", { name: "Publish with this picture: Film" }));

    it.each([
      ["whose parts are all there", { ...film, state: "sealed", sent: 16, needsFile: false }],
      ["that has parts to send", { ...film, needsFile: false }],
    ] as const)("asks for a picture, and publishes an upload %s with it", async (_, upload) => {
      const { vault, record, group } = await openPrompt(upload);
      expect(within(group).getByText(/What was sent stays\.$/)).toHaveFocus();
      expect(screen.queryByRole("button", { name: /^(Continue|Publish): Film$/ })).not.toBeInTheDocument();
      await expectAccessible();
      vault.failWith("resumeUpload", null);
      await userEvent.upload(within(group).getByLabelText("Choose a picture"), createFile(acceptedPicture));
      await submitPicture();
      await waitFor(() => {
        expect(record.notices.at(-1)).toEqual({ tone: "success", text: "Your file is protected." });
      });
      expect(vault.resumedWith).toEqual([{ name: "Image 2", picture: acceptedPicture, passphrase: null }]);
      expect([vault.calls.includes("unlock"), await vault.listUploads()]).toEqual([false, []]);
    });

    it("sends nothing before there is a picture, and can be discarded", async () => {
      const { vault, group } = await openPrompt({ ...film, needsFile: false });
      await submitPicture();
      expect(within(group).getByText("Choose the picture first, and what it needs.")).toBeVisible();
      expect(vault.calls.filter((call) => call === "resumeUpload")).toHaveLength(1);
      await userEvent.click(screen.getByRole("button", { name: "Discard: Film" })); // it can be given up, too
      await waitFor(async () => {
        expect(await vault.listUploads()).toEqual([]);
      });
    });

    it("keeps the picture when it does not do yet, and takes it with its passphrase then", async () => {
      const { vault, group } = await openPrompt(
        { ...film, needsFile: false },
        code === "opener_needed" ? {} : { images: [{ name: "Lake", picture: "lake", passphrase: "quiet" }] },
      );
      vault.failWith("resumeUpload", "picture_needs_passphrase");
      await userEvent.upload(within(group).getByLabelText("Choose a picture"), createFile(acceptedPicture));
      await submitPicture();
      await waitFor(() => {
        expect(screen.getByRole("alert")).toHaveTextContent(/passphrase/);
      });
      vault.failWith("resumeUpload", null);
      await userEvent.type(within(group).getByLabelText("Passphrase"), "quiet");
      await submitPicture();
      await waitFor(async () => {
        expect(await vault.listUploads()).toEqual([]);
      });
      expect(vault.resumedWith.map(({ picture, passphrase }) => [picture, passphrase])).toEqual([
        [acceptedPicture, null],
        [acceptedPicture, "quiet"],
      ]);
    });

    it("gives it on with the file, where that has to be chosen again", async () => {
      const { vault } = await renderUploads();
      if (code === "opener_needed") await vault.openers.recognise(createOpenerHandle(createFile("lake")));
      vault.failWith("resumeUpload", code);
      await userEvent.upload(await screen.findByLabelText("The file of Film"), createFile("frames of a film"));
      await userEvent.upload(await screen.findByLabelText("Choose a picture"), createFile(acceptedPicture));
      vault.failWith("resumeUpload", null);
      await submitPicture();
      await userEvent.upload(screen.getByLabelText("The file of Film"), createFile("frames of a film"));
      await waitFor(async () => {
        expect(await vault.listUploads()).toEqual([]);
      });
      expect(vault.resumedWith).toMatchObject([{ picture: acceptedPicture }]);
    });
  });

  it("begins the account with the picture of an upload, where there is none yet", async () => {
    const { vault } = await renderUploads(
      [{ ...film, state: "sealed", sent: 16, needsFile: false }],
      { images: [] },
      { language: "es" },
    );
    expect(vault.getState().status).toBe("empty");
    await userEvent.click(await screen.findByRole("button", { name: /^Publicar/ }));
    await userEvent.upload(await screen.findByLabelText("Choose a picture"), createFile("lake"));
    await userEvent.click(screen.getByRole("button", { name: /^Publicar con esta imagen: / }));
    await waitFor(() => {
      expect(vault.getState().status).toBe("unlocked");
    });
    expect([await vault.listUploads(), vault.resumedWith]).toEqual([
      [],
      [{ name: "Imagen 1", picture: "lake", passphrase: null }],
    ]);
  });

  it("goes on without a file where none is needed", async () => {
    const { vault } = await renderUploads([{ ...film, needsFile: false }]);
    await userEvent.click(await screen.findByRole("button", { name: "Continue: Film" }));
    await waitFor(async () => {
      expect(await vault.listUploads()).toEqual([]);
    });
  });

  it("publishes what is sealed once the device is unlocked", async () => {
    const { vault } = await renderUploads([{ ...film, state: "sealed", sent: 16, needsFile: false }], {
      unlocked: false,
    });
    await userEvent.click(await screen.findByRole("button", { name: /^Publish/ }));
    expect(await screen.findByRole("alert")).toBeVisible(); // locked: it waits, sealed
    expect(await vault.listUploads()).toHaveLength(1);
    await vault.unlock(createOpenerHandle(createFile("lake")));
    await userEvent.click(screen.getByRole("button", { name: /^Publish/ }));
    await waitFor(async () => {
      expect(await vault.listUploads()).toEqual([]);
    });
  });

  describe("says when a waiting upload ends", () => {
    const now = new Date(2026, 10, 21, 18, 0).getTime(); // in the time of the person's place
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

    it("in one sentence, while there is time", async () => {
      await renderUploads([{ ...createExpiringUpload(22, 14, 5), state: "sealed" }], { unlocked: false });
      expect(await screen.findByText("Unlock before 14:05 tomorrow, or it has to be sent again.")).toBeVisible();
      expect(getWarnings()).toEqual([]);
    });

    it("as a notice within the last three hours", async () => {
      await renderUploads([{ ...createExpiringUpload(21, 20, 59), state: "sealed" }], { unlocked: false });
      await screen.findByRole("heading", { level: 3 });
      expect(getWarnings()).toEqual(["Unlock before 20:59 today, or it has to be sent again."]);
      await expectAccessible();
    });

    it("with what it waits for: going on, or publishing", async () => {
      await renderUploads([createExpiringUpload(22, 9, 0), { ...createExpiringUpload(22, 10, 0), state: "sealed" }]);
      expect(await screen.findByText("Continue before 09:00 tomorrow, or it has to be sent again.")).toBeVisible();
      expect(screen.getByText("Publish it before 10:00 tomorrow, or it has to be sent again.")).toBeVisible();
    });

    it("in Spanish too, and not while it runs", async () => {
      await renderUploads(
        [
          { ...createExpiringUpload(21, 19, 30), state: "sealed" },
          { ...createExpiringUpload(21, 19, 31), state: "running" },
        ],
        { unlocked: false },
        { language: "es" },
      );
      await screen.findAllByRole("heading", { level: 3 });
      expect(getWarnings()).toEqual(["Desbloquea antes de las 19:30 de hoy, o habrá que enviarlo de nuevo."]);
    });
  });

  it("shows neither title nor file name while locked", async () => {
    await renderUploads([film], { unlocked: false });
    expect(await screen.findByRole("heading", { level: 3, name: /^Upload of / })).toBeVisible();
    expect(screen.queryByText(/film/i)).not.toBeInTheDocument();
  });

  it("is discarded after asking, and not without", async () => {
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

  it("is whole in Spanish and in the dark", async () => {
    await renderUploads([film], {}, { language: "es", theme: "dark" });
    expect(await screen.findByRole("heading", { name: "Archivos en camino" })).toBeVisible();
    await expectAccessible();
  });
});
