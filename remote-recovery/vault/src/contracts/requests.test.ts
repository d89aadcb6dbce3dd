import "fake-indexeddb/auto";

import { once } from "node:events";

import { partBytes } from "@relicario/shared/api";
import { PortalError } from "@relicario/shared/errors";

import { protect } from "../acts/protect.ts";
import { recover } from "../acts/recover.ts";
import { answerDevice } from "../acts/unlock.ts";
import { askForSecret } from "../requests/ask.ts";
import { listAsked } from "../requests/asked.ts";
import { openAnswer } from "../requests/open-answer.ts";
import { dropRequest, markCollected } from "../requests/settle.ts";
import { aFile, aRequest, aText, providerWith, type Provider } from "../testing/answering.ts";
import { savedBytes } from "../testing/saving.ts";
import { randomFile } from "../testing/uploading.ts";
import { shown, textSecret } from "../testing/world.ts";
import type { VaultContext } from "../vault-context.ts";
import { code, plain, titles, withServiceWorld } from "./story.ts";

const world = withServiceWorld();

/**
 * Somebody's own device that has shown a picture, and a request of theirs, whose link somebody
 * without an account opens.
 */
async function asked(
  title: string,
  note: string,
): Promise<{ laptop: VaultContext; requestId: string; link: string; provider: Provider }> {
  const laptop = await (await world().signUp()).open();
  await protect(laptop, textSecret("Mine", shown("market")), {});
  await answerDevice(laptop, "own");
  const { requestId, link } = await askForSecret(
    laptop,
    aRequest(laptop, { title, note, askedBy: "Ana of the second floor", maxSize: 40_000_000 }),
    shown("market"),
  );
  return { laptop, requestId, link, provider: await providerWith({ service: world().visitor }, link) };
}

const parts = (): number => world().visitor.calls.filter((call) => /^POST \/requests\/answer\/./.test(call)).length;

it("a request is answered by a text, opened with the same words on both sides, kept, and collected", async () => {
  const [title, note, answer] = ["The alarm", "for the guests", "4711 and the star"];
  const { laptop, requestId, link, provider } = await asked(title, note);
  expect(link).toMatch(/^\/request\/[\w-]{22}#s=[\w-]{43}$/);
  expect(await provider.look()).toMatchObject({
    title,
    note,
    askedBy: "Ana of the second floor",
    state: "awaiting",
    begun: null,
  });
  const { words } = await provider.answer(aText(answer));
  expect(words).toHaveLength(8);
  expect((await provider.look()).state).toBe("provided");
  const sent = JSON.stringify([world().visitor.calls, world().visitor.bodies]);
  for (const secret of [title, note, answer, link.split("#s=")[1] ?? ""]) expect(sent).not.toContain(secret);

  expect(await listAsked(laptop)).toMatchObject([{ requestId, title, state: "provided", doubt: null }]);
  const came = await openAnswer(laptop, requestId, shown("market"));
  expect(came).toMatchObject({ contentKind: "text", name: "words.txt", words });
  expect(plain(came)).toBe(answer);
  const { secretId } = await protect(
    laptop,
    { ...textSecret(title), content: new Blob([came.content ?? new Uint8Array()]) },
    {},
  );
  await markCollected(laptop, requestId);
  expect(await listAsked(laptop)).toMatchObject([{ requestId, state: "collected", doubt: null }]);
  expect(await titles(laptop)).toEqual(["Mine", title]);
  expect(plain(await recover(laptop, secretId, shown("market"), {}))).toBe(answer);
});

it("a file that was interrupted goes on where it stopped, comes back byte for byte, and is deleted with its link", async () => {
  const { laptop, requestId, link, provider } = await asked("The film", "");
  const { plain: film, file } = randomFile(partBytes + 1_000_000);
  const before = parts();
  const closing = new AbortController();
  world().visitor.before = async (call) => {
    if (!/^POST \/requests\/answer\/./.test(call) || parts() - before === 1) return;
    await once(closing.signal, "abort"); // the others are on their way when the tab is closed
    throw new PortalError("service_unavailable");
  };
  const onProgress = (): void => {
    closing.abort(); // the first part is there
  };
  await expect(provider.answer(aFile(file), { signal: closing.signal, onProgress })).rejects.toEqual(code("cancelled"));
  world().visitor.before = () => undefined;
  const sentBefore = parts() - before;

  const again = await providerWith({ service: world().visitor }, link);
  expect((await again.look()).begun).toMatchObject({ name: "film.mp4", size: film.length });
  await again.answer(aFile(file));
  expect(parts() - before - sentBefore).toBe(1); // of two
  expect(world().visitor.calls.filter((call) => call === "POST /requests/answer")).toHaveLength(2);

  const came = await openAnswer(laptop, requestId, null);
  expect(came).toMatchObject({ contentKind: "file", name: "film.mp4", size: film.length, content: null });
  expect(Buffer.from(await savedBytes(laptop.service.content, came.sealed)).equals(film)).toBe(true);
  await dropRequest(laptop, requestId);
  expect(await listAsked(laptop)).toEqual([]);
  await expect(again.look()).rejects.toEqual(code("request_unavailable"));
  await expect(openAnswer(laptop, requestId, null)).rejects.toEqual(code("not_found"));
});
