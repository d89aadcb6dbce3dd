import { maxOpenRequests } from "../api/index.ts";
import type { AskedRow, OfferedRequest, OpenedAnswer, ProvidedSecret, VaultRequests, Visitor } from "../contract/index.ts";
import { PortalError, type ErrorCode } from "../errors/index.ts";
import { openedContent, type FakeContent } from "./fake-content.ts";
import { textOf } from "./fake-picture-field.tsx";
import type { FakeAccount } from "./fake-sharing.ts";

/** A request that this account made before. */
export interface FakeAsked extends Partial<Omit<AskedRow, "title" | "size" | "providedAt">> {
  readonly title: string;
  /** What came. */
  readonly answer?: FakeContent & { readonly note?: string };
}

export interface FakeRequestsSettings {
  /** Newest first. */
  readonly asked?: readonly FakeAsked[];
}

const receipt = ["anchor", "lemon", "velvet", "orbit", "river", "cactus", "north", "today"];
const at = "2026-11-20T10:00:00.000Z";
const inAWeek = () => new Date(Date.now() + 7 * 86_400_000).toISOString();

interface KeptRequest {
  readonly row: AskedRow;
  readonly answer: FakeAsked["answer"] | null;
}

/** Requests of the fake vault, in memory; `answerElsewhere` stands for somebody who has the link. */
export function createFakeRequests({ asked = [] }: FakeRequestsSettings, account: FakeAccount): { readonly requests: VaultRequests; readonly answerElsewhere: (requestId: string) => void } {
  const kept = new Map<string, KeptRequest>();
  const nextId = () => `request${String(kept.size + 1)}`.padEnd(22, "0");
  for (const { answer, ...given } of asked) {
    const requestId = given.requestId ?? nextId();
    const came = answer === undefined ? null : at;
    const size = answer === undefined ? null : answer.content.length + 2048;
    kept.set(requestId, {
      row: { state: answer === undefined ? "awaiting" : "provided", createdAt: at, expiresAt: inAWeek(), collectedAt: null, doubt: null, ...given, requestId, providedAt: came, size },
      answer: answer ?? null,
    });
  }
  const requireRequest = (requestId: string): KeptRequest => {
    const request = kept.get(requestId);
    if (request === undefined) throw new PortalError("not_found");
    return request;
  };
  const change = (requestId: string, next: Partial<AskedRow>) => {
    const request = requireRequest(requestId);
    kept.set(requestId, { ...request, row: { ...request.row, ...next } });
  };
  const linkOf = (requestId: string) => `https://portal.example/request/${requestId}#s=key`;
  const isOpen = ({ row }: KeptRequest) => row.state === "awaiting";
  const requests: VaultRequests = {
    create: async ({ title, expiresAt }, opener, options) => {
      account.enter("requests.create", options);
      account.requireUnlocked();
      await account.showOpener(opener);
      if ([...kept.values()].filter(isOpen).length >= maxOpenRequests) throw new PortalError("limit_reached");
      const requestId = nextId();
      kept.set(requestId, { row: { requestId, title, state: "awaiting", createdAt: new Date().toISOString(), expiresAt, providedAt: null, collectedAt: null, size: null, doubt: null }, answer: null });
      return { requestId, link: linkOf(requestId) };
    },
    list: async (options) => {
      account.enter("requests.list", options);
      account.requireUnlocked();
      return Promise.resolve([...kept.values()].map(({ row }) => row).filter(({ state, doubt }) => options?.ended === true || doubt !== null || (state !== "expired" && state !== "revoked")));
    },
    showLink: async (requestId, opener, options) => {
      account.enter("requests.showLink", options);
      await account.showOpener(opener);
      requireRequest(requestId);
      return linkOf(requestId);
    },
    open: async (requestId, opener, options) => {
      account.enter("requests.open", options);
      await account.showOpener(opener);
      const { answer } = requireRequest(requestId);
      if (answer == null) throw new PortalError("request_unavailable");
      return { ...openedContent(answer), requestId, note: answer.note ?? "", words: receipt, createdAt: at } satisfies OpenedAnswer;
    },
    collect: async (requestId, options) => {
      account.enter("requests.collect", options);
      change(requestId, { state: "collected", collectedAt: new Date().toISOString() });
      return Promise.resolve();
    },
    drop: async (requestId, options) => {
      account.enter("requests.drop", options);
      const request = kept.get(requestId);
      const isEnded = request !== undefined && (request.row.state === "collected" || Date.parse(request.row.expiresAt) <= Date.now());
      if (isEnded || request?.row.doubt === "unknown") kept.delete(requestId);
      else if (request !== undefined) change(requestId, { state: "revoked", doubt: null });
      return Promise.resolve();
    },
  };
  return {
    requests,
    answerElsewhere: (requestId) => {
      change(requestId, { state: "provided", providedAt: new Date().toISOString(), size: 2048 });
    },
  };
}

export interface FakeAnswering extends Pick<Visitor, "lookAtRequest" | "answer"> {
  /** What was sent, in order. */
  readonly sent: readonly (Omit<ProvidedSecret, "content"> & { readonly text: string })[];
  /** From now on the member rejects so; null ends it. */
  readonly failWith: (member: "lookAtRequest" | "answer", code: ErrorCode | null) => void;
}

/** The request that a link leads to, for {@link FakeVisitorSettings.requests}; the first answer closes it. */
export function createFakeAnswering(offered: Partial<OfferedRequest> = {}): FakeAnswering {
  const sent: FakeAnswering["sent"][number][] = [];
  const failures = new Map<string, ErrorCode>();
  const enter = (member: "lookAtRequest" | "answer", signal: AbortSignal | undefined) => {
    if (signal?.aborted === true) throw new PortalError("cancelled");
    const code = failures.get(member);
    if (code !== undefined) throw new PortalError(code);
  };
  return {
    sent,
    failWith: (member, code) => {
      if (code === null) failures.delete(member);
      else failures.set(member, code);
    },
    lookAtRequest: async (_requestId, options) => {
      enter("lookAtRequest", options?.signal);
      const offer: OfferedRequest = { title: "The deed", note: "", askedBy: "Alba", expiresAt: inAWeek(), maxSize: 1_000_000, state: "awaiting", begun: null, ...offered };
      return Promise.resolve(sent.length > 0 ? { ...offer, state: "provided" } : offer);
    },
    answer: async (_requestId, { content, ...rest }, options) => {
      if (options?.anew === true && failures.get("answer") === "file_changed") failures.delete("answer"); // what was begun is given up
      enter("answer", options?.signal);
      if (sent.length > 0) throw new PortalError("request_closed");
      options?.onProgress?.({ phase: "sending", done: content.size, total: content.size });
      sent.push({ ...rest, text: await textOf(content) });
      return { words: receipt };
    },
  };
}

