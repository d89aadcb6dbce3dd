import "fake-indexeddb/auto";

import { once } from "node:events";

import { defaultPartBytes } from "@relicario/shared/api";
import { PortalError } from "@relicario/shared/errors";

import { protect } from "../operations/protect.ts";
import { openSmallSecret } from "../operations/open-secret.ts";
import { setDeviceKind } from "../operations/set-device-kind.ts";
import { createRequest } from "../requests/create-request.ts";
import { listRequests } from "../requests/list-requests.ts";
import { openAnswer } from "../requests/open-answer.ts";
import { dropRequest, markCollected } from "../requests/end-requests.ts";
import {
  makeFileAnswer,
  makeRequest,
  makeTextAnswer,
  openProvider,
  type Provider,
} from "../testing/answer-provider.ts";
import { saveToBytes } from "../testing/save-to-bytes.ts";
import { randomFile } from "../testing/uploading-tab.ts";
import { makePicture, textSecret } from "../testing/world.ts";
import type { VaultSession } from "../session/vault-session.ts";
import { errorWithCode, plainTextOf, listTitles, withServiceWorld } from "./service-harness.ts";

const world = withServiceWorld();

/**
 * Somebody's own device that has shown a picture, and a request of theirs, whose link somebody
 * without an account opens.
 */
async function createRequestWithProvider(
  title: string,
  note: string,
): Promise<{ laptop: VaultSession; requestId: string; link: string; provider: Provider }> {
  const laptop = await (await world().signUp()).open();
  await protect(laptop, textSecret("Mine", makePicture("market")), {});
  await setDeviceKind(laptop, "own");
  const { requestId, link } = await createRequest(
    laptop,
    makeRequest(laptop, { title, note, requesterName: "Ana of the second floor", maxSize: 40_000_000 }),
    makePicture("market"),
  );
  return { laptop, requestId, link, provider: await openProvider({ service: world().visitor }, link) };
}

const countParts = (): number =>
  world().visitor.calls.filter((call) => /^POST \/requests\/answer\/./.test(call)).length;

it("a request is answered by a text, opened with the same words on both sides, kept, and collected", async () => {
  const [title, note, answer] = ["The alarm", "for the guests", "4711 and the star"];
  const { laptop, requestId, link, provider } = await createRequestWithProvider(title, note);
  expect(link).toMatch(/^\/request\/[\w-]{22}#s=[\w-]{43}$/);
  expect(await provider.inspect()).toMatchObject({
    title,
    note,
    requesterName: "Ana of the second floor",
    state: "awaiting",
    unfinishedAnswer: null,
  });
  const { receiptWords } = await provider.answer(makeTextAnswer(answer));
  expect(receiptWords).toHaveLength(8);
  expect((await provider.inspect()).state).toBe("provided");
  const sent = JSON.stringify([world().visitor.calls, world().visitor.bodies]);
  for (const secret of [title, note, answer, link.split("#s=")[1] ?? ""]) expect(sent).not.toContain(secret);

  expect(await listRequests(laptop)).toMatchObject([{ requestId, title, state: "provided", discrepancy: null }]);
  const openedAnswer = await openAnswer(laptop, requestId, makePicture("market"));
  expect(openedAnswer).toMatchObject({ contentKind: "text", name: "words.txt", receiptWords });
  expect(plainTextOf(openedAnswer)).toBe(answer);
  const { secretId } = await protect(
    laptop,
    { ...textSecret(title), content: new Blob([openedAnswer.content ?? new Uint8Array()]) },
    {},
  );
  await markCollected(laptop, requestId);
  expect(await listRequests(laptop)).toMatchObject([{ requestId, state: "collected", discrepancy: null }]);
  expect(await listTitles(laptop)).toEqual(["Mine", title]);
  expect(plainTextOf(await openSmallSecret(laptop, secretId, makePicture("market"), {}))).toBe(answer);
});

it("a file that was interrupted goes on where it stopped, comes back byte for byte, and is deleted with its link", async () => {
  const { laptop, requestId, link, provider } = await createRequestWithProvider("The film", "");
  const { plain: film, file } = randomFile(defaultPartBytes + 1_000_000);
  const before = countParts();
  const controller = new AbortController();
  world().visitor.before = async (call) => {
    if (!/^POST \/requests\/answer\/./.test(call) || countParts() - before === 1) return;
    await once(controller.signal, "abort"); // the others are on their way when the tab is closed
    throw new PortalError("service_unavailable");
  };
  const onProgress = (): void => {
    controller.abort(); // the first part is there
  };
  await expect(provider.answer(makeFileAnswer(file), { signal: controller.signal, onProgress })).rejects.toEqual(
    errorWithCode("cancelled"),
  );
  world().visitor.before = () => undefined;
  const sentBefore = countParts() - before;

  const reopened = await openProvider({ service: world().visitor }, link);
  expect((await reopened.inspect()).unfinishedAnswer).toMatchObject({ name: "film.mp4", size: film.length });
  await reopened.answer(makeFileAnswer(file));
  expect(countParts() - before - sentBefore).toBe(1); // of two
  expect(world().visitor.calls.filter((call) => call === "POST /requests/answer")).toHaveLength(2);

  const openedAnswer = await openAnswer(laptop, requestId, null);
  expect(openedAnswer).toMatchObject({ contentKind: "file", name: "film.mp4", size: film.length, content: null });
  expect(Buffer.from(await saveToBytes(laptop.service.content, openedAnswer.sealed)).equals(film)).toBe(true);
  await dropRequest(laptop, requestId);
  expect(await listRequests(laptop)).toEqual([]);
  await expect(reopened.inspect()).rejects.toEqual(errorWithCode("request_unavailable"));
  await expect(openAnswer(laptop, requestId, null)).rejects.toEqual(errorWithCode("not_found"));
});
