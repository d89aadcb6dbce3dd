import { fromB64u } from "@relicario/shared/api";
import type { Http, OfferedRequest, ProvidedSecret, SecretRequest } from "@relicario/shared/contract";
import { PortalError } from "@relicario/shared/errors";

import {
  answerRequest,
  lookAtRequest,
  type AnswerOptions,
  type AnswerParts,
  type RequestLink,
  type TakenAnswer,
} from "../requests/answer.ts";
import { answerCallsOn } from "../requests/answer-calls.ts";
import { openAnswerRecords, type AnswerRecords } from "../requests/answer-records.ts";
import { askForSecret, type MadeRequest } from "../requests/ask.ts";
import { createRunningDigest } from "../transfer/running-digest.ts";
import type { VaultContext } from "../vault-context.ts";
import type { FakeRequest } from "./fake-account.ts";
import type { World } from "./world.ts";

/** A browser of somebody who was given a link, as far as requests need it. */
export interface Provider extends RequestLink {
  readonly parts: AnswerParts;
  readonly records: AnswerRecords;
  /** Milliseconds since 1970. */
  readonly clock: { now: number };
  readonly look: () => Promise<OfferedRequest>;
  readonly answer: (provided: ProvidedSecret, options?: AnswerOptions) => Promise<TakenAnswer>;
}

/**
 * A page opened by a link: path and fragment. What the browser kept of it before is there again.
 */
export async function providerWith(
  { service }: { readonly service: { readonly http: Http } },
  link: string,
  clock = { now: Date.now() },
): Promise<Provider> {
  const [path = "", key = ""] = link.split("#s=");
  const requestLink: RequestLink = { requestId: path.replace("/request/", ""), linkKey: fromB64u(key) };
  const now = (): number => clock.now;
  const records = await openAnswerRecords(now);
  const parts: AnswerParts = {
    calls: answerCallsOn(service.http),
    records: () => Promise.resolve(records),
    newDigest: createRunningDigest,
    patience: {
      wait: (_milliseconds, signal) => {
        return signal.aborted
          ? Promise.reject(new PortalError("cancelled", { cause: signal.reason }))
          : Promise.resolve();
      },
    },
    now,
  };
  return {
    ...requestLink,
    parts,
    records,
    clock,
    look: () => lookAtRequest(parts, requestLink),
    answer: (provided, options) => answerRequest(parts, requestLink, provided, options),
  };
}

export function aRequest(vault: Pick<VaultContext, "now">, change: Partial<SecretRequest> = {}): SecretRequest {
  return {
    title: "The deed",
    note: "for the notary",
    askedBy: "José",
    expiresAt: new Date(vault.now() + 7 * 86_400_000).toISOString(),
    maxSize: 10_000_000,
    notify: false,
    ...change,
  };
}

/** A request of a vault that has shown an opener, and somebody who has its link. */
export async function asked(
  world: World,
  vault: VaultContext,
  change: Partial<SecretRequest> = {},
): Promise<MadeRequest & { readonly provider: Provider }> {
  const made = await askForSecret(vault, aRequest(vault, change), null);
  return { ...made, provider: await providerWith(world, made.link) };
}

/** As the service keeps it. */
export function storedRequest(world: World, requestId: string): FakeRequest {
  const request = world.service.account.requests?.get(requestId);
  if (request === undefined) throw new TypeError("there is no such request");
  return request;
}

export function aText(text: string, note = ""): ProvidedSecret {
  return { contentKind: "text", name: "words.txt", mime: "text/plain", content: new Blob([text]), note };
}

export function aFile(content: Blob, note = ""): ProvidedSecret {
  return { contentKind: "file", name: "film.mp4", mime: "video/mp4", content, note };
}
