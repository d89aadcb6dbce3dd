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
  openRequestSender,
  type RequestSender,
} from "../testing/request-sender.ts";
import { saveToBytes } from "../testing/save-to-bytes.ts";
import { randomFile } from "../testing/uploading-tab.ts";
import { makePicture, textSecret } from "../testing/world.ts";
import type { VaultSession } from "../session/vault-session.ts";
import { errorWithCode, decodeContent, listTitles, withServiceWorld } from "./service-harness.ts";

const world = withServiceWorld();

/**
 * Opens a user's own device with a presented picture, creates a request, and opens its link without
 * an account.
 */
async function createRequestWithSender(
  title: string,
  note: string,
): Promise<{ laptop: VaultSession; requestId: string; link: string; sender: RequestSender }> {
  const laptop = await (await world().signUp()).open();
  await protect(laptop, textSecret("Mine", makePicture("market")), {});
  await setDeviceKind(laptop, "own");
  const { requestId, link } = await createRequest(
    laptop,
    makeRequest(laptop, { title, note, requesterName: "Ana of the second floor", maxSize: 40_000_000 }),
    makePicture("market"),
  );
  return { laptop, requestId, link, sender: await openRequestSender({ service: world().visitor }, link) };
}

const countParts = (): number =>
  world().visitor.calls.filter((call) => /^POST \/requests\/answer\/./.test(call)).length;

it("a request is answered with a text, opened with equal receipt words, protected, and collected", async () => {
  const [title, note, answerText] = ["The alarm", "for the guests", "4711 and the star"];
  const { laptop, requestId, link, sender } = await createRequestWithSender(title, note);
  expect(link).toMatch(/^\/request\/[\w-]{22}#s=[\w-]{43}$/);
  expect(await sender.inspect()).toMatchObject({
    title,
    note,
    requesterName: "Ana of the second floor",
    state: "awaiting",
    unfinishedAnswer: null,
  });
  const { receiptWords } = await sender.answer(makeTextAnswer(answerText));
  expect(receiptWords).toHaveLength(8);
  expect((await sender.inspect()).state).toBe("provided");
  const sentData = JSON.stringify([world().visitor.calls, world().visitor.bodies]);
  for (const secret of [title, note, answerText, link.split("#s=")[1] ?? ""]) expect(sentData).not.toContain(secret);

  expect(await listRequests(laptop)).toMatchObject([{ requestId, title, state: "provided", discrepancy: null }]);
  const openedAnswer = await openAnswer(laptop, requestId, makePicture("market"));
  expect(openedAnswer).toMatchObject({ contentKind: "text", name: "words.txt", receiptWords });
  expect(decodeContent(openedAnswer)).toBe(answerText);
  const { secretId } = await protect(
    laptop,
    { ...textSecret(title), content: new Blob([openedAnswer.content ?? new Uint8Array()]) },
    {},
  );
  await markCollected(laptop, requestId);
  expect(await listRequests(laptop)).toMatchObject([{ requestId, state: "collected", discrepancy: null }]);
  expect(await listTitles(laptop)).toEqual(["Mine", title]);
  expect(decodeContent(await openSmallSecret(laptop, secretId, makePicture("market"), {}))).toBe(answerText);
});

it("an interrupted file resumes, opens byte for byte, and is deleted with its request", async () => {
  const { laptop, requestId, link, sender } = await createRequestWithSender("The film", "");
  const { plaintext: film, file } = randomFile(defaultPartBytes + 1_000_000);
  const partCountBefore = countParts();
  const controller = new AbortController();
  world().visitor.beforeCall = async (call) => {
    if (!/^POST \/requests\/answer\/./.test(call) || countParts() - partCountBefore === 1) return;
    await once(controller.signal, "abort"); // the other parts are in flight when the tab closes
    throw new PortalError("service_unavailable");
  };
  const onProgress = (): void => {
    controller.abort(); // loses the response to the first part
  };
  await expect(sender.answer(makeFileAnswer(file), { signal: controller.signal, onProgress })).rejects.toEqual(
    errorWithCode("cancelled"),
  );
  world().visitor.beforeCall = () => undefined;
  const sentCount = countParts() - partCountBefore;

  const reopenedSender = await openRequestSender({ service: world().visitor }, link);
  expect((await reopenedSender.inspect()).unfinishedAnswer).toMatchObject({ name: "film.mp4", size: film.length });
  await reopenedSender.answer(makeFileAnswer(file));
  expect(countParts() - partCountBefore - sentCount).toBe(1); // the second of two parts
  expect(world().visitor.calls.filter((call) => call === "POST /requests/answer")).toHaveLength(2);

  const openedAnswer = await openAnswer(laptop, requestId, null);
  expect(openedAnswer).toMatchObject({ contentKind: "file", name: "film.mp4", size: film.length, content: null });
  expect(Buffer.from(await saveToBytes(laptop.service.content, openedAnswer.sealed)).equals(film)).toBe(true);
  await dropRequest(laptop, requestId);
  expect(await listRequests(laptop)).toEqual([]);
  await expect(reopenedSender.inspect()).rejects.toEqual(errorWithCode("request_unavailable"));
  await expect(openAnswer(laptop, requestId, null)).rejects.toEqual(errorWithCode("not_found"));
});
