import { maxFileNameLength, maxOpenRequests, maxRequestTitleLength, requestDays, RequestId } from "../api/index.ts";
import type {
  AskedRow,
  CallOptions,
  OfferedRequest,
  OpenedAnswer,
  ProvidedSecret,
  VaultRequests,
  Visitor,
} from "../contract/index.ts";
import { PortalError, type ErrorCode } from "../errors/index.ts";
import { isText, refuseCancelled, refuseFields, type FakeAccount } from "./fake-account.ts";
import type { Enter } from "./fake-call.ts";
import { openedContent, type FakeContent } from "./fake-content.ts";
import { textOf } from "./fake-picture-field.tsx";

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

export interface FakeRequests {
  readonly requests: VaultRequests;
  readonly answerElsewhere: (requestId: string, answer?: FakeContent & { readonly note?: string }) => void;
  /** Those that wait for an answer are over; gives their titles. */
  readonly revokeWaiting: () => readonly string[];
  /** Nothing was ever asked for. */
  readonly forget: () => void;
}

/**
 * Requests of the fake vault, in memory; `answerElsewhere` stands for somebody who has the link.
 */
export function createFakeRequests(
  { asked = [] }: FakeRequestsSettings,
  account: FakeAccount,
  enter: Enter,
): FakeRequests {
  /** Oldest first. */
  const kept = new Map<string, KeptRequest>();
  const nextId = () => `request${String(kept.size + 1).padStart(14, "0")}A`; // 16 bytes in base64url
  for (const { answer, ...given } of asked.toReversed()) {
    const requestId = given.requestId ?? nextId();
    const came = answer === undefined ? null : at;
    const size = answer === undefined ? null : answer.content.length + 2048;
    kept.set(requestId, {
      row: {
        state: answer === undefined ? "awaiting" : "provided",
        createdAt: at,
        expiresAt: inAWeek(),
        collectedAt: null,
        doubt: null,
        ...given,
        requestId,
        providedAt: came,
        size,
      },
      answer: answer ?? null,
    });
  }
  const requireRequest = (requestId: string): KeptRequest => {
    const request = kept.get(requestId);
    if (request === undefined) throw new PortalError("not_found");
    return request;
  };
  const requireLive = (requestId: string): KeptRequest => {
    const request = requireRequest(requestId);
    if (request.row.state === "revoked") throw new PortalError("not_found");
    return request;
  };
  const change = (requestId: string, next: Partial<AskedRow>, answer?: FakeAsked["answer"]) => {
    const request = requireRequest(requestId);
    kept.set(requestId, { answer: answer ?? request.answer, row: { ...request.row, ...next } });
  };
  const linkOf = (requestId: string) => `https://portal.example/request/${requestId}#s=key`;
  const isOpen = ({ row }: KeptRequest) => row.state === "awaiting";
  const isTooLong = (expiresAt: string) =>
    !(Date.parse(expiresAt) > Date.now() && Date.parse(expiresAt) <= Date.now() + requestDays.most * 86_400_000);
  const requests: VaultRequests = {
    create: async ({ title, askedBy, expiresAt, maxSize }, opener, options) => {
      enter("requests.create", options);
      refuseFields({
        title: !isText(title, maxRequestTitleLength),
        askedBy: !isText(askedBy, maxRequestTitleLength),
        expiresAt: isTooLong(expiresAt),
        maxSize: !(maxSize >= 1),
      });
      await account.requireShown(opener);
      if ([...kept.values()].filter(isOpen).length >= maxOpenRequests) throw new PortalError("limit_reached");
      const requestId = nextId();
      kept.set(requestId, {
        row: {
          requestId,
          title,
          state: "awaiting",
          createdAt: new Date().toISOString(),
          expiresAt,
          providedAt: null,
          collectedAt: null,
          size: null,
          doubt: null,
        },
        answer: null,
      });
      return { requestId, link: linkOf(requestId) };
    },
    list: async (options) => {
      enter("requests.list", options);
      if (account.getState().status !== "empty") account.requireUnlocked();
      const rows = [...kept.values()].map(({ row }) => row).toReversed();
      return Promise.resolve(
        rows.filter(
          ({ state, doubt }) =>
            options?.ended === true || doubt !== null || (state !== "expired" && state !== "revoked"),
        ),
      );
    },
    showLink: async (requestId, opener, options) => {
      enter("requests.showLink", options);
      await account.requireShown(opener);
      requireLive(requestId);
      return linkOf(requestId);
    },
    open: async (requestId, opener, options) => {
      enter("requests.open", options);
      await account.requireShown(opener);
      const { answer } = requireLive(requestId);
      if (answer == null) throw new PortalError("not_found");
      const locks = account.locks();
      return {
        ...openedContent(answer, () => account.locks() > locks),
        requestId,
        note: answer.note ?? "",
        words: receipt,
        createdAt: at,
      } satisfies OpenedAnswer;
    },
    collect: async (requestId, options) => {
      enter("requests.collect", options);
      account.requireUnlocked();
      change(requestId, { state: "collected", collectedAt: new Date().toISOString() });
      return Promise.resolve();
    },
    drop: async (requestId, options) => {
      enter("requests.drop", options);
      const request = kept.get(requestId);
      if (request === undefined && !RequestId.safeParse(requestId).success) throw new PortalError("not_found");
      account.requireUnlocked();
      const isEnded =
        request !== undefined && (request.row.state === "collected" || Date.parse(request.row.expiresAt) <= Date.now());
      if (isEnded || request?.row.doubt === "unknown") kept.delete(requestId);
      else if (request !== undefined) change(requestId, { state: "revoked", doubt: null });
      return Promise.resolve();
    },
  };
  return {
    requests,
    answerElsewhere: (requestId, answer = { content: "number 7" }) => {
      change(
        requestId,
        { state: "provided", providedAt: new Date().toISOString(), size: answer.content.length + 2048 },
        answer,
      );
    },
    revokeWaiting: () => {
      const waiting = [...kept.values()].filter(isOpen).map(({ row }) => row);
      for (const { requestId } of waiting) change(requestId, { state: "revoked" });
      return waiting.map(({ title }) => title);
    },
    forget: () => {
      kept.clear();
    },
  };
}

export interface FakeAnswering extends Pick<Visitor, "lookAtRequest" | "answer"> {
  /** What was sent, in order. */
  readonly sent: readonly (Omit<ProvidedSecret, "content"> & { readonly text: string })[];
  /** From now on the member rejects so; null ends it. */
  readonly failWith: (member: "lookAtRequest" | "answer", code: ErrorCode | null) => void;
  /** Whoever asked revokes it. */
  readonly endRequest: () => void;
}

/**
 * The request that a link leads to, for {@link FakeVisitorSettings.requests}; the first answer
 * closes it.
 */
export function createFakeAnswering(offered: Partial<OfferedRequest> = {}): FakeAnswering {
  const sent: FakeAnswering["sent"][number][] = [];
  const failures = new Map<string, ErrorCode>();
  const maxSize = offered.maxSize ?? 1_000_000;
  let isRevoked = false;
  const enter = (member: "lookAtRequest" | "answer", requestId: string, options?: CallOptions) => {
    refuseCancelled(options);
    const code = failures.get(member);
    if (code !== undefined) throw new PortalError(code);
    if (isRevoked || !RequestId.safeParse(requestId).success) throw new PortalError("request_unavailable");
  };
  return {
    sent,
    failWith: (member, code) => {
      if (code === null) failures.delete(member);
      else failures.set(member, code);
    },
    endRequest: () => {
      isRevoked = true;
    },
    lookAtRequest: async (requestId, options) => {
      enter("lookAtRequest", requestId, options);
      const offer: OfferedRequest = {
        title: "The deed",
        note: "",
        askedBy: "Alba",
        expiresAt: inAWeek(),
        maxSize,
        state: "awaiting",
        begun: null,
        ...offered,
      };
      return Promise.resolve(sent.length > 0 ? { ...offer, state: "provided" } : offer);
    },
    answer: async (requestId, { content, ...rest }, options) => {
      // what was begun is given up
      if (options?.anew === true && failures.get("answer") === "file_changed") failures.delete("answer");
      enter("answer", requestId, options);
      refuseFields({ name: !isText(rest.name, maxFileNameLength) });
      if (sent.length > 0) throw new PortalError("request_closed");
      if (content.size > maxSize) throw new PortalError("payload_too_large", { details: { limit: maxSize } });
      options?.onProgress?.({ phase: "sending", done: content.size, total: content.size });
      sent.push({ ...rest, text: await textOf(content) });
      return { words: receipt };
    },
  };
}
