import {
  maxFileNameLength,
  maxOpenRequests,
  maxRequestTitleLength,
  requestLifetimeDays,
  RequestId,
} from "../api/index.ts";
import type {
  RequestRow,
  CallOptions,
  RequestPreview,
  OpenedAnswer,
  ProvidedSecret,
  VaultRequests,
  Visitor,
} from "../contract/index.ts";
import { PortalError, type ErrorCode } from "../errors/index.ts";
import { isValidText, throwIfCancelled, throwIfInvalid, type FakeAccount } from "./fake-account.ts";
import type { RecordCall } from "./fake-call.ts";
import { createOpenedContent, type FakeContent } from "./fake-content.tsx";
import { readBlobText } from "./fake-picture-field.tsx";

/** An existing request of this account. */
export interface FakeOwnRequest extends Partial<Omit<RequestRow, "title" | "size" | "providedAt">> {
  readonly title: string;
  /** Answer that has arrived. */
  readonly answer?: FakeContent & { readonly note?: string };
}

export interface FakeRequestsSettings {
  /** Newest first. */
  readonly ownRequests?: readonly FakeOwnRequest[];
}

const receiptWords = ["anchor", "lemon", "velvet", "orbit", "river", "cactus", "north", "today"];
const timestamp = "2026-11-20T10:00:00.000Z";
const getNextWeek = () => new Date(Date.now() + 7 * 86_400_000).toISOString();

interface InMemoryRequest {
  readonly row: RequestRow;
  readonly answer: FakeOwnRequest["answer"] | null;
}

export interface FakeRequests {
  readonly requests: VaultRequests;
  readonly answerElsewhere: (requestId: string, answer?: FakeContent & { readonly note?: string }) => void;
  /** Revokes unanswered requests and returns their titles. */
  readonly revokeOpen: () => readonly string[];
  /** Removes all requests. */
  readonly clear: () => void;
}

/**
 * Creates the requests of the fake vault, in memory. `answerElsewhere` answers as a person who has
 * the link.
 */
export function createFakeRequests(
  { ownRequests = [] }: FakeRequestsSettings,
  account: FakeAccount,
  recordCall: RecordCall,
): FakeRequests {
  /** Oldest first. */
  const requestsById = new Map<string, InMemoryRequest>();
  const nextId = () => `request${String(requestsById.size + 1).padStart(14, "0")}A`; // 16 bytes as base64url
  for (const { answer, ...row } of ownRequests.toReversed()) {
    const requestId = row.requestId ?? nextId();
    const providedAt = answer === undefined ? null : timestamp;
    const size = answer === undefined ? null : answer.content.length + 2048;
    requestsById.set(requestId, {
      row: {
        state: answer === undefined ? "awaiting" : "provided",
        createdAt: timestamp,
        expiresAt: getNextWeek(),
        collectedAt: null,
        discrepancy: null,
        ...row,
        requestId,
        providedAt,
        size,
      },
      answer: answer ?? null,
    });
  }
  const requireRequest = (requestId: string): InMemoryRequest => {
    const request = requestsById.get(requestId);
    if (request === undefined) throw new PortalError("not_found");
    return request;
  };
  const requireLive = (requestId: string): InMemoryRequest => {
    const request = requireRequest(requestId);
    if (request.row.state === "revoked") throw new PortalError("not_found");
    return request;
  };
  const updateRequest = (requestId: string, next: Partial<RequestRow>, answer?: FakeOwnRequest["answer"]) => {
    const request = requireRequest(requestId);
    requestsById.set(requestId, { answer: answer ?? request.answer, row: { ...request.row, ...next } });
  };
  const buildLink = (requestId: string) => `https://portal.example/request/${requestId}#s=key`;
  const isOpen = ({ row }: InMemoryRequest) => row.state === "awaiting";
  const isInvalidExpiry = (expiresAt: string) =>
    !(
      Date.parse(expiresAt) > Date.now() &&
      Date.parse(expiresAt) <= Date.now() + requestLifetimeDays.maximum * 86_400_000
    );
  const requests: VaultRequests = {
    create: async ({ title, requesterName, expiresAt, maxSize }, opener, options) => {
      recordCall("requests.create", options);
      throwIfInvalid({
        title: !isValidText(title, maxRequestTitleLength),
        requesterName: !isValidText(requesterName, maxRequestTitleLength),
        expiresAt: isInvalidExpiry(expiresAt),
        maxSize: !(maxSize >= 1),
      });
      await account.requirePresented(opener);
      if ([...requestsById.values()].filter(isOpen).length >= maxOpenRequests) throw new PortalError("limit_reached");
      const requestId = nextId();
      requestsById.set(requestId, {
        row: {
          requestId,
          title,
          state: "awaiting",
          createdAt: new Date().toISOString(),
          expiresAt,
          providedAt: null,
          collectedAt: null,
          size: null,
          discrepancy: null,
        },
        answer: null,
      });
      return { requestId, link: buildLink(requestId) };
    },
    list: async (options) => {
      recordCall("requests.list", options);
      if (account.getState().status !== "empty") account.requireUnlocked();
      const rows = [...requestsById.values()].map(({ row }) => row).toReversed();
      return Promise.resolve(
        rows.filter(
          ({ state, discrepancy }) =>
            options?.includeEnded === true || discrepancy !== null || (state !== "expired" && state !== "revoked"),
        ),
      );
    },
    getLink: async (requestId, opener, options) => {
      recordCall("requests.getLink", options);
      await account.requirePresented(opener);
      requireLive(requestId);
      return buildLink(requestId);
    },
    open: async (requestId, opener, options) => {
      recordCall("requests.open", options);
      await account.requirePresented(opener);
      const { answer } = requireLive(requestId);
      if (answer == null) throw new PortalError("not_found");
      const lockCount = account.getLockCount();
      return {
        ...createOpenedContent(answer, () => account.getLockCount() > lockCount),
        requestId,
        note: answer.note ?? "",
        receiptWords,
        createdAt: timestamp,
      } satisfies OpenedAnswer;
    },
    collect: async (requestId, options) => {
      recordCall("requests.collect", options);
      account.requireAuthor();
      updateRequest(requestId, { state: "collected", collectedAt: new Date().toISOString() });
      return Promise.resolve();
    },
    drop: async (requestId, options) => {
      recordCall("requests.drop", options);
      const request = requestsById.get(requestId);
      if (request === undefined && !RequestId.safeParse(requestId).success) throw new PortalError("not_found");
      account.requireAuthor();
      const isEnded =
        request !== undefined && (request.row.state === "collected" || Date.parse(request.row.expiresAt) <= Date.now());
      if (isEnded || request?.row.discrepancy === "unknown") requestsById.delete(requestId);
      else if (request !== undefined) updateRequest(requestId, { state: "revoked", discrepancy: null });
      return Promise.resolve();
    },
  };
  return {
    requests,
    answerElsewhere: (requestId, answer = { content: "number 7" }) => {
      updateRequest(
        requestId,
        { state: "provided", providedAt: new Date().toISOString(), size: answer.content.length + 2048 },
        answer,
      );
    },
    revokeOpen: () => {
      const openRows = [...requestsById.values()].filter(isOpen).map(({ row }) => row);
      for (const { requestId } of openRows) updateRequest(requestId, { state: "revoked" });
      return openRows.map(({ title }) => title);
    },
    clear: () => {
      requestsById.clear();
    },
  };
}

export interface FakeRequestVisitor extends Pick<Visitor, "previewRequest" | "answer"> {
  /** Answers that were sent, in order. */
  readonly sent: readonly (Omit<ProvidedSecret, "content"> & { readonly text: string })[];
  /** Makes the member reject with the code. Null ends the failures. */
  readonly failWith: (member: "previewRequest" | "answer", code: ErrorCode | null) => void;
  /** Revokes the request, as its owner does. */
  readonly revokeRequest: () => void;
}

/**
 * Creates the request of a link, for {@link FakeVisitorSettings.requests}. The first answer closes
 * it.
 */
export function createFakeRequestVisitor(overrides: Partial<RequestPreview> = {}): FakeRequestVisitor {
  const sent: FakeRequestVisitor["sent"][number][] = [];
  const failures = new Map<string, ErrorCode>();
  const maxSize = overrides.maxSize ?? 1_000_000;
  let isRevoked = false;
  const checkCall = (member: "previewRequest" | "answer", requestId: string, options?: CallOptions) => {
    throwIfCancelled(options);
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
    revokeRequest: () => {
      isRevoked = true;
    },
    previewRequest: async (requestId, options) => {
      checkCall("previewRequest", requestId, options);
      const preview: RequestPreview = {
        title: "The deed",
        note: "",
        requesterName: "Alba",
        expiresAt: getNextWeek(),
        maxSize,
        state: "awaiting",
        unfinishedAnswer: null,
        ...overrides,
      };
      return Promise.resolve(sent.length > 0 ? { ...preview, state: "provided" } : preview);
    },
    answer: async (requestId, { content, ...rest }, options) => {
      // a restart discards the unfinished answer
      if (options?.restart === true && failures.get("answer") === "file_changed") failures.delete("answer");
      checkCall("answer", requestId, options);
      throwIfInvalid({ name: !isValidText(rest.name, maxFileNameLength) });
      if (sent.length > 0) throw new PortalError("request_closed");
      if (content.size > maxSize) throw new PortalError("payload_too_large", { details: { limit: maxSize } });
      options?.onProgress?.({ phase: "sending", done: content.size, total: content.size });
      sent.push({ ...rest, text: await readBlobText(content) });
      return { receiptWords };
    },
  };
}
