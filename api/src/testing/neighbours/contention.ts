/**
 * Tests views under contention: `npm run test:contention`. Two services on one database behind one
 * gateway, real sockets, two hundred concurrent openings of a share with five views from many
 * addresses; and two concurrent finishes of one request. The last line is JSON; fails when there
 * are more or fewer contents than views, or more than one answer.
 */
import { answerPath, OwnShare, RequestList, ShareClaim } from "@relicario/shared/api";
import { z } from "zod";

import { createPerson, type Person } from "../person.ts";
import {
  startAnswer,
  callOk,
  deleteRequest,
  finishAnswer,
  createRequest,
  storeSecret,
  createShare,
  buildOpening,
  sendParts,
  type BuiltShare,
  type ServiceCalls,
} from "../sharing.ts";
import { createCaller, type CallResult, type Caller } from "./caller.ts";
import { startTestDeployment, type TestDeployment } from "./test-deployment.ts";

const openingCount = 200;
const viewCount = 5;
const roundCount = 5;
const finishPairCount = 20;
/** The gateway allows eight concurrent calls per IP address. */
const callerAddressCount = 25;

const deployment = await startTestDeployment();
const callers = Array.from({ length: callerAddressCount }, (_, index) =>
  createCaller(deployment.origin, `127.0.2.${String(index + 1)}`, null),
);
const failures: string[] = [];
const expectEqual = (label: string, actual: unknown, expected: unknown): void => {
  const [actualJson, expectedJson] = [JSON.stringify(actual), JSON.stringify(expected)];
  if (actualJson !== expectedJson) failures.push(`${label}: ${actualJson} instead of ${expectedJson}`);
  console.log(`${actualJson === expectedJson ? "✓" : "✗"} ${label}`);
};

try {
  const calls = createCalls(deployment);
  const owner = createPerson("owner", await deployment.signIn("owner"));
  const secret = await storeSecret(calls, owner, { bytes: 60_000 });

  const share = await createShare(calls, owner, secret.id, { max_views: viewCount });
  await readShareInfoRepeatedly(deployment, share);
  expectEqual(
    "looks of people and preview agents, a GET and a HEAD cost nothing",
    (await findShare(calls, owner, secret.id, share)).views,
    0,
  );

  for (let round = 1; round <= roundCount; round++) {
    const openedShare = round === 1 ? share : await createShare(calls, owner, secret.id, { max_views: viewCount });
    const name = `round ${String(round)}: ${String(openingCount)} openings at once`;
    const responses = await Promise.all(
      Array.from({ length: openingCount }, (_, index) => openShare(getCaller(index), openedShare)),
    );
    const shareClaims = responses
      .filter(({ status }) => status === 200)
      .map(({ body }) => ShareClaim.parse(parseBody(body)));
    const contents = await Promise.all(
      shareClaims.map(({ download }, index) =>
        getCaller(index).callJson("POST", "/share/content", { token: download.token }),
      ),
    );
    expectEqual(
      `${name} give ${String(viewCount)} contents`,
      contents.filter(({ status, body }) => status === 200 && body.equals(secret.content)).length,
      viewCount,
    );
    expectEqual(
      `${name} give ${String(openingCount - viewCount)} times the same 404`,
      [...new Set(responses.filter(({ status }) => status !== 200).map(describeResponse))],
      ["404 share_unavailable"],
    );
    const { views: countedViews, end } = await findShare(calls, owner, secret.id, openedShare);
    expectEqual(`${name} are counted as ${String(viewCount)} views`, [countedViews, end], [viewCount, "used_up"]);
  }

  const repeatedShare = await createShare(calls, owner, secret.id, { max_views: 1 });
  const opening = buildOpening(repeatedShare);
  const repeatedResponses = await Promise.all(
    Array.from({ length: openingCount }, (_, index) =>
      getCaller(index).callJson("POST", "/share/get-public-secret", opening),
    ),
  );
  expectEqual(
    `${String(openingCount)} calls with one claim_id at once are one view, for all of them`,
    [...new Set(repeatedResponses.map(({ status }) => status))],
    [200],
  );
  expectEqual("… and are counted as one", (await findShare(calls, owner, secret.id, repeatedShare)).views, 1);

  const protectedShare = await createShare(calls, owner, secret.id, { password: true });
  const guesses = await Promise.all(
    Array.from({ length: openingCount }, (_, index) =>
      getCaller(index).callJson("POST", "/share/get-public-secret", {
        ...buildOpening(protectedShare),
        pass_auth: "A".repeat(43),
      }),
    ),
  );
  expectEqual(
    `of ${String(openingCount)} wrong passwords at once ten are told`,
    guesses.filter(({ status }) => status === 403).length,
    10,
  );
  expectEqual(
    "… and the right one comes too late",
    describeResponse(await openShare(getCaller(0), protectedShare)),
    "404 share_unavailable",
  );

  let singleWinCount = 0;
  for (let pair = 0; pair < finishPairCount; pair++) {
    const request = await createRequest(calls, owner);
    const startedAnswers = [await startAnswer(calls, request), await startAnswer(calls, request)];
    for (const answer of startedAnswers) await sendParts(calls, answer);
    const finishResponses = await Promise.all(
      startedAnswers.map((answer, index) =>
        getCaller(index).call(answerPath(answer.id), {
          method: "PUT",
          headers: { "content-type": "application/json", ...answer.headers },
          body: JSON.stringify(answer.finishBody),
        }),
      ),
    );
    if (finishResponses.map(describeResponse).sort().join() === "200,409 request_closed") singleWinCount += 1;
    for (const [index, answer] of startedAnswers.entries()) {
      const repeatedResponse = await finishAnswer(calls, answer);
      if (repeatedResponse.status !== finishResponses[index]?.status)
        failures.push(
          `a finish was answered ${String(finishResponses[index]?.status)}, then ${String(repeatedResponse.status)}`,
        );
    }
    await deleteRequest(calls, owner, request.requestId);
  }
  expectEqual(
    `two finishes of one request give one, ${String(finishPairCount)} times`,
    singleWinCount,
    finishPairCount,
  );
  const { requests } = RequestList.parse((await callOk(calls, "GET", "/requests", owner.token)).body);
  expectEqual("… and nothing of the others is left", requests, []);

  console.log(JSON.stringify({ test: "contention", ok: failures.length === 0, failures }));
  process.exitCode = failures.length === 0 ? 0 : 1;
} finally {
  for (const caller of callers) caller.close();
  await deployment.stop();
}

function getCaller(index: number): Caller {
  const caller = callers[index % callerAddressCount];
  if (caller === undefined) throw new Error("no caller");
  return caller;
}

function openShare(caller: Caller, share: BuiltShare): Promise<CallResult> {
  return caller.callJson("POST", "/share/get-public-secret", buildOpening(share));
}

async function readShareInfoRepeatedly({ origin }: TestDeployment, { shareId, linkAuth }: BuiltShare): Promise<void> {
  const userAgents = [
    "Slackbot-LinkExpanding 1.0",
    "Twitterbot/1.0",
    "facebookexternalhit/1.1",
    "WhatsApp/2.23.20.0",
    "TelegramBot (like TwitterBot)",
    "Discordbot/2.0",
    "LinkedInBot/1.0",
    "SkypeUriPreview Preview/0.5",
    "Googlebot/2.1",
    "bingbot/2.0",
  ];
  for (const userAgent of userAgents) {
    const headers = { "user-agent": userAgent, "content-type": "application/json" };
    for (const method of ["GET", "HEAD"]) await fetch(`${origin}/shared/${shareId}`, { method, headers });
    for (const method of ["GET", "HEAD", "POST"])
      await fetch(`${origin}/api/share/get-public-secret/${shareId}`, { method, headers: { "user-agent": userAgent } });
    await fetch(`${origin}/api/share/get-public-secret`, {
      method: "POST",
      headers,
      body: JSON.stringify({ share_id: shareId, link_auth: linkAuth }),
    });
  }
}

async function findShare(
  calls: ServiceCalls,
  owner: Person,
  secretId: string,
  { shareId }: BuiltShare,
): Promise<OwnShare> {
  const { body } = await callOk(calls, "GET", `/sharelist/${secretId}?get_expired=true`, owner.token);
  const share = z
    .object({ shares: z.array(OwnShare) })
    .parse(body)
    .shares.find(({ share_id: id }) => id === shareId);
  if (share === undefined) throw new Error("the owner's list lacks the share");
  return share;
}

/** Calls of the owner and of anonymous callers, through the gateway. */
function createCalls({ origin }: TestDeployment): ServiceCalls {
  return {
    async call(method, path, token, { body, headers = {} } = {}) {
      const isBytes = Buffer.isBuffer(body);
      const authorization = token === null ? {} : { authorization: `Bearer ${token}` };
      const type = body === undefined || isBytes ? {} : { "content-type": "application/json" };
      const response = await fetch(`${origin}/api${path}`, {
        method,
        headers: { ...authorization, ...type, ...headers },
        ...(body === undefined ? {} : { body: isBytes ? Uint8Array.from(body) : JSON.stringify(body) }),
      });
      const text = await response.text();
      return {
        status: response.status,
        headers: Object.fromEntries(response.headers),
        text,
        body: text === "" ? {} : parseBody(Buffer.from(text)),
      };
    },
  };
}

function parseBody(body: Buffer): Record<string, unknown> {
  return z.record(z.string(), z.unknown()).parse(JSON.parse(body.toString()));
}

function describeResponse({ status, body }: CallResult): string {
  return status === 200 ? "200" : `${String(status)} ${String(parseBody(body)["code"])}`;
}
