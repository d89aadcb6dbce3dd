import type { Http, VaultState } from "@relicario/shared/contract";

import { openDevice, type Device } from "../device/device.ts";
import { serviceOn } from "../service.ts";
import { createFakeEngine } from "../testing/fake-engine.ts";
import { visitorWith } from "../testing/sharing-world.ts";
import { openVaultContext, type VaultContext } from "../vault-context.ts";
import type { VisitorContext } from "../visitor-context.ts";
import { newSubject, startRealService, type RealService } from "./real-service.ts";

/**
 * Vaults over the real service in this process: the shared client, the cheap Argon2id and pictures
 * of the fake engine.
 */
export interface ServiceWorld extends Pick<RealService, "goAhead" | "now"> {
  /** Signs up a person. */
  readonly signUp: () => Promise<PersonOfService>;
  /** Opens a link in a browser of its own, signed in or not. */
  readonly visit: (link: string | null, by?: PersonOfService) => Promise<VisitorContext>;
  /** Calls without a session. */
  readonly visitor: ObservedHttp;
  readonly stop: () => Promise<void>;
}

export interface PersonOfService {
  readonly userId: string;
  readonly userName: string;
  /**
   * Opens a page of the device with this name, which keeps what it kept. A device has one sign-in.
   */
  readonly open: (deviceName?: string, options?: { readonly locked?: boolean }) => Promise<VaultContext>;
  /** Calls of that device. */
  readonly on: (deviceName?: string) => Promise<ObservedHttp>;
  /** Signs in on that device again. */
  readonly signInAgain: (deviceName: string) => Promise<void>;
}

/** Calls that a test can listen to, and lose. */
export interface ObservedHttp {
  readonly http: Http;
  /** `METHOD path` of each call, in order. */
  readonly calls: string[];
  /** Bodies as they are sent; forms are left out. */
  readonly bodies: unknown[];
  /** Called before each call; throwing loses it on its way there. */
  before: (call: string) => void | Promise<void>;
  /** Called after each call that succeeded; throwing loses the answer. */
  after: (call: string) => void;
}

export async function startServiceWorld(): Promise<ServiceWorld> {
  const service = await startRealService();
  return {
    goAhead: service.goAhead,
    now: service.now,
    signUp: () => signUp(service),
    visit: async (link, by) =>
      visitorWith(by === undefined ? service.visitor : (await by.on("browser of the link")).http, link),
    visitor: observed(() => service.visitor),
    stop: () => service.test.stop(),
  };
}

async function signUp(service: RealService): Promise<PersonOfService> {
  const subject = newSubject();
  const signIns = new Map<string, { http: Http; readonly observed: ObservedHttp }>();
  const on: PersonOfService["on"] = async (name = "laptop") => {
    const there = signIns.get(name);
    if (there !== undefined) return there.observed;
    const signIn: { http: Http; readonly observed: ObservedHttp } = {
      http: await service.signIn(subject),
      observed: observed(() => signIn.http),
    };
    signIns.set(name, signIn);
    return signIn.observed;
  };
  const { user_id: userId, user_name: userName } = await serviceOn((await on()).http).shares.me();
  const deviceNamed = (name: string): Promise<Device> =>
    openDevice({ vendorId: `relicario on ${name}`, issuer: service.test.issuer.issuer, subject });
  return {
    userId,
    userName,
    on,
    signInAgain: async (name) => {
      const signIn = signIns.get(name);
      if (signIn !== undefined) signIn.http = await service.signIn(subject);
    },
    open: async (name = "laptop", { locked = false } = {}) => {
      const tell = (_state: VaultState): void => undefined;
      return openVaultContext({
        userId,
        service: serviceOn((await on(name)).http),
        engine: createFakeEngine(),
        device: await deviceNamed(name),
        locked,
        tell,
        pause: () => Promise.resolve(),
        locks: null,
      });
    },
  };
}

function observed(current: () => Http): ObservedHttp {
  const through = async <T>(call: string, work: () => Promise<T>): Promise<T> => {
    own.calls.push(call);
    await own.before(call);
    const answer = await work();
    own.after(call);
    return answer;
  };
  const own: ObservedHttp = {
    calls: [],
    bodies: [],
    before: () => undefined,
    after: () => undefined,
    http: {
      request: (method, path, schema, options = {}) => {
        if (options.body !== undefined && !(options.body instanceof FormData)) own.bodies.push(options.body);
        return through(`${method} ${path}`, () => current().request(method, path, schema, options));
      },
      stream: (method, path, options) => through(`${method} ${path}`, () => current().stream(method, path, options)),
    },
  };
  return own;
}
