import type { CDPSession } from "@playwright/test";
import { z } from "zod";

/** A page, a frame of another process or a worker, as DevTools reach it. */
export interface DevtoolsTarget {
  /** Of a worker its name; otherwise "page" or "frame". */
  readonly name: string;
  /** Null when the target is gone, or refused. */
  readonly request: (method: string) => Promise<unknown>;
}

const AttachedEvent = z.object({
  sessionId: z.string(),
  targetInfo: z.object({ type: z.string(), title: z.string() }),
});
const DetachedEvent = z.object({ sessionId: z.string() });
const ReceivedMessage = z.object({ sessionId: z.string(), message: z.string() });
const Message = z.object({
  id: z.number().optional(),
  result: z.unknown().optional(),
  method: z.string().optional(),
  params: z.unknown().optional(),
});

const autoAttach = { autoAttach: true, waitForDebuggerOnStart: false, flatten: false } as const;

interface AttachedTarget extends DevtoolsTarget {
  readonly children: Map<string, AttachedTarget>;
  /** Settles once the children of this target's frames are known. */
  readonly framesAttached: () => Promise<unknown>;
  readonly handleMessage: (text: string) => void;
  readonly handleEvent: (method: string, params: unknown) => void;
  /** Answers all pending requests with null. */
  readonly end: () => void;
}

/**
 * Attaches to the page, the vault's frame in it, and the workers of both, also to those that start
 * later. Playwright's own sessions take no commands for them, so messages are wrapped by hand, once
 * for each level.
 *
 * @returns lists the targets of the moment, the page first
 */
export async function attachTargets(cdp: CDPSession): Promise<() => readonly DevtoolsTarget[]> {
  const page = createTarget("page", (method, params) =>
    cdp.send(method as "Target.setAutoAttach", params as typeof autoAttach),
  );
  for (const method of [
    "Target.attachedToTarget",
    "Target.detachedFromTarget",
    "Target.receivedMessageFromTarget",
  ] as const) {
    cdp.on(method, (params: unknown) => {
      page.handleEvent(method, params);
    });
  }
  await cdp.send("Target.setAutoAttach", autoAttach);
  await page.framesAttached();
  const list = (target: AttachedTarget): readonly DevtoolsTarget[] => [
    target,
    ...[...target.children.values()].flatMap(list),
  ];
  return () => list(page);
}

type Send = (method: string, params: unknown) => Promise<unknown>;

function createTarget(name: string, send: Send): AttachedTarget {
  const children = new Map<string, AttachedTarget>();
  const attachments: Promise<unknown>[] = [];
  return {
    name,
    children,
    framesAttached: () => Promise.all(attachments),
    request: (method) => send(method, {}).catch(() => null),
    handleMessage: () => undefined,
    handleEvent: (method, params) => {
      if (method === "Target.attachedToTarget") {
        const { sessionId, targetInfo } = AttachedEvent.parse(params);
        const isFrame = targetInfo.type === "iframe";
        if (!isFrame && targetInfo.type !== "worker") return;
        const child = createChild(isFrame ? "frame" : targetInfo.title, (message) =>
          send("Target.sendMessageToTarget", { sessionId, message }),
        );
        children.set(sessionId, child);
        if (isFrame) attachments.push(child.attach());
      } else if (method === "Target.detachedFromTarget") {
        const { sessionId } = DetachedEvent.parse(params);
        children.get(sessionId)?.end();
        children.delete(sessionId);
      } else if (method === "Target.receivedMessageFromTarget") {
        const { sessionId, message } = ReceivedMessage.parse(params);
        children.get(sessionId)?.handleMessage(message);
      }
    },
    end: () => undefined,
  };
}

function createChild(
  name: string,
  post: (message: string) => Promise<unknown>,
): AttachedTarget & { readonly attach: () => Promise<unknown> } {
  const pendingReplies = new Map<number, (result: unknown) => void>();
  let lastId = 0;
  const send: Send = (method, params) =>
    new Promise((resolve) => {
      const id = ++lastId;
      pendingReplies.set(id, resolve);
      post(JSON.stringify({ id, method, params })).catch(() => {
        resolve(null); // a target that has just ended
      });
    });
  const target = createTarget(name, send);
  return {
    ...target,
    attach: () => send("Target.setAutoAttach", autoAttach),
    handleMessage: (text) => {
      const { id, result, method, params } = Message.parse(JSON.parse(text));
      if (id !== undefined) {
        pendingReplies.get(id)?.(result ?? null);
        pendingReplies.delete(id);
      } else if (method !== undefined) target.handleEvent(method, params);
    },
    end: () => {
      for (const reply of pendingReplies.values()) reply(null);
      pendingReplies.clear();
      for (const child of target.children.values()) child.end();
    },
  };
}
