import { estimateStrength, type DeviceAccount, type OpenerHandle, type VaultState } from "@relicario/shared/contract";

import { openDevice, type Device } from "../device/device.ts";
import { presentPicture, type ProtectRequest, type PresentedPicture } from "../rpc/presented-opener.ts";
import type { MarkQuestion } from "../seal/mark.ts";
import { openVaultSession, type VaultSession } from "../session/vault-session.ts";
import type { WriterLocks } from "../session/writer-queue.ts";
import { createService } from "../service/service.ts";
import { createFakeEngine, fakePicture } from "./fake-engine.ts";
import { createFakeService, type FakeService } from "./fake-service.ts";
import type { FakeSharing } from "./fake-shares.ts";

export const userId = "019a9e2c-7c1e-7abc-8def-0123456789ab";

/** A service, and devices that sign in to it as one person. */
export interface World {
  readonly service: FakeService;
  readonly engine: ReturnType<typeof createFakeEngine>;
  /** Opens a page on the named device, whose storage persists. */
  readonly open: (deviceName?: string) => Promise<VaultSession & { readonly states: VaultState[] }>;
  readonly openNamedDevice: (name?: string) => Promise<Device>;
  /** Web Locks shared by the pages, with the requested names. */
  readonly locks: FakeLocks;
  /** Questions that the person was asked about the mark. */
  readonly markQuestions: MarkQuestion[];
  /** What the person answers. */
  knowsMark: boolean;
  /** Milliseconds since 1970 until which presented openers are kept; null for never. */
  keepOpenerUntil: number | null;
  /** Replaces the clock of sessions opened afterwards; milliseconds since 1970. */
  now: (() => number) | null;
}

/** Exclusive locks by name, like those of browsers between tabs. */
interface FakeLocks {
  readonly names: Set<string>;
  readonly request: WriterLocks["request"];
}

function createFakeLocks(): FakeLocks {
  const names = new Set<string>();
  const pending = new Map<string, Promise<unknown>>();
  return {
    names,
    request: (name, callback) => {
      names.add(name);
      const result = Promise.resolve(pending.get(name)).then(callback);
      pending.set(
        name,
        result.catch(() => null),
      );
      return result;
    },
  };
}

let worldCount = 0;

/** @param person the person's id and name; `sharing` connects this person with others */
export function createWorld({
  userId: id = userId,
  userName = "ada",
  sharing = null,
}: { readonly userId?: string; readonly userName?: string; readonly sharing?: FakeSharing | null } = {}): World {
  const service = createFakeService(id);
  if (sharing !== null) {
    const me = { userId: id, userName, account: () => service.account };
    sharing.people.set(userName.toLowerCase(), me);
    service.sharing = { state: sharing, me };
  }
  const engine = createFakeEngine();
  worldCount++;
  const locks = createFakeLocks();
  const subject = `person ${String(worldCount)}`;
  const deviceAccountFor = (device: string): DeviceAccount => ({
    vendorId: `relicario on ${device}`,
    issuer: "https://id.example",
    subject,
  });
  const world: World = {
    service,
    engine,
    locks,
    markQuestions: [],
    knowsMark: true,
    keepOpenerUntil: null,
    now: null,
    openNamedDevice: (name = "laptop") => openDevice(deviceAccountFor(name)),
    open: async (name = "laptop") => {
      const states: VaultState[] = [];
      const vault = await openVaultSession({
        userId: id,
        service: createService(service.httpFor(name)),
        engine,
        estimateStrength,
        device: await openDevice(deviceAccountFor(name)),
        onStateChange: (state) => states.push(state),
        confirmMark: (question) => {
          world.markQuestions.push(question);
          return Promise.resolve(world.knowsMark);
        },
        keepOpenerUntil: () => Promise.resolve(world.keepOpenerUntil),
        ...(world.now === null ? {} : { now: world.now }),
        pause: () => Promise.resolve(),
        locks,
      });
      return Object.assign(vault, { states });
    },
  };
  return world;
}

/** Creates a picture for operations. */
export function makePicture(picture: string, passphrase: string | null = null): PresentedPicture {
  return { picture: fakePicture(picture), passphrase };
}

/** Creates a picture for the page's vault. */
export function makePictureHandle(picture: string, passphrase: string | null = null): OpenerHandle {
  return presentPicture(makePicture(picture, passphrase));
}

type TestProtection<PictureInput> =
  | { readonly kind: "picture"; readonly picture: PictureInput; readonly name: string }
  | { readonly kind: "openers"; readonly openerIds: readonly string[] };

/** Protects with a picture, or with the openers of the book. */
export function textSecret<PictureInput = never>(
  title: string,
  picture?: PictureInput,
  content = `content of ${title}`,
): Omit<ProtectRequest, "protection"> & { readonly protection: TestProtection<PictureInput> } {
  return {
    title,
    tags: ["paper"],
    contentKind: "text",
    name: "secret.txt",
    mime: "text/plain",
    content: new Blob([content]),
    protection:
      picture === undefined ? { kind: "openers", openerIds: [] } : { kind: "picture", picture, name: "The market" },
  };
}
