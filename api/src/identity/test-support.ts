import { spawn, type ChildProcess } from "node:child_process";
import { hash, randomBytes, randomInt } from "node:crypto";
import { once } from "node:events";
import { createServer } from "node:net";
import { join } from "node:path";
import { createInterface } from "node:readline";

import { generateIdentityKeys } from "./generate-keys.ts";

/** Tests run the real process and talk to it like a browser without scripts. */

export const portalOrigin = "http://localhost:4999";
export const clientId = "relicario-portal";
export const demoAccount = { username: "demo", email: "demo@example.org", password: "a long demo phrase" };

export type Environment = Readonly<Record<string, string>>;

/** Of this Jest worker alone, and below the system's ephemeral ports, which anyone may get. */
let nextPort = 11_000 + 1_000 * (Number(process.env["JEST_WORKER_ID"] ?? 0) % 9) + randomInt(900);

export async function findFreePort(): Promise<number> {
  const port = nextPort++;
  const server = createServer().listen(port);
  try {
    await once(server, "listening");
  } catch {
    return findFreePort(); // it is taken
  }
  server.close();
  await once(server, "close");
  return port;
}

export async function createEnvironment(databaseUrl: string, port: number): Promise<Environment> {
  return {
    PATH: process.env["PATH"] ?? "",
    IDENTITY_PORT: String(port),
    IDENTITY_ISSUER: `http://localhost:${String(port)}/realms/relicario`,
    IDENTITY_DATABASE_URL: databaseUrl,
    IDENTITY_CLIENTS: JSON.stringify([
      {
        client_id: clientId,
        redirect_uris: [`${portalOrigin}/`, `${portalOrigin}/silent-renew.html`],
        post_logout_redirect_uris: [`${portalOrigin}/`],
        origins: [portalOrigin],
      },
    ]),
    DEMO_ACCOUNT: JSON.stringify(demoAccount),
    ...(await generateIdentityKeys()),
  };
}

export interface RunningProcess {
  readonly child: ChildProcess;
  /** Everything that it wrote so far. */
  output(): string;
  stop(): Promise<number | null>;
}

export async function startProcess(environment: Environment): Promise<RunningProcess> {
  const child = spawn(process.execPath, ["--disable-warning=ExperimentalWarning", join(__dirname, "main.ts")], {
    env: environment,
    stdio: ["ignore", "pipe", "pipe"],
  });
  const outputChunks: string[] = [];
  child.stderr.on("data", (chunk: Buffer) => outputChunks.push(chunk.toString()));
  const exited = once(child, "exit");
  await new Promise<void>((resolve, reject) => {
    createInterface({ input: child.stdout }).on("line", (line) => {
      outputChunks.push(`${line}\n`);
      if (line.startsWith('{"ready":true')) resolve();
    });
    child.once("exit", () => {
      reject(new Error(outputChunks.join("")));
    });
  });
  return {
    child,
    output: () => outputChunks.join(""),
    stop: async () => {
      child.kill("SIGTERM");
      await exited;
      return child.exitCode;
    },
  };
}

/** Response and final address of a request. */
export interface VisitedPage {
  readonly url: URL;
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
}

/** `fetch`, as far as a visitor needs it. */
export type SimpleFetch = (
  url: URL,
  init: {
    readonly method: string;
    readonly redirect: "manual";
    readonly headers: Readonly<Record<string, string>>;
    readonly body?: URLSearchParams;
  },
) => Promise<Response>;

interface Cookie {
  readonly value: string;
  readonly path: string;
}

/**
 * Follows redirects with cookies and forms within the provider; stops at a redirect to the portal.
 */
export class Visitor {
  readonly #cookies = new Map<string, Cookie>();
  readonly #headers: Readonly<Record<string, string>>;
  readonly #fetch: SimpleFetch;

  constructor(headers: Readonly<Record<string, string>> = {}, send: SimpleFetch = fetch) {
    this.#headers = headers;
    this.#fetch = send;
  }

  cookie(name: string): string | undefined {
    for (const [key, { value }] of this.#cookies) if (key.startsWith(`${name};`)) return value;
    return undefined;
  }

  /** Returns the same browser with only this cookie, as after its session ended. */
  keepOnly(name: string): Visitor {
    const visitor = new Visitor(this.#headers, this.#fetch);
    for (const [key, cookie] of this.#cookies) if (key.startsWith(`${name};`)) visitor.#cookies.set(key, cookie);
    return visitor;
  }

  cookies(): string[] {
    return [...this.#cookies.values()].map(({ value }) => value);
  }

  async get(address: string | URL): Promise<VisitedPage> {
    return this.#request(new URL(address), { method: "GET" });
  }

  /** Fills in and submits the page's form, with its named button if it has one. */
  async submit(
    page: VisitedPage,
    fields: Readonly<Record<string, string>> = {},
    headers: Readonly<Record<string, string>> = {},
  ): Promise<VisitedPage> {
    const action = /<form[^>]* action="([^"]+)"/.exec(page.text)?.[1];
    if (action === undefined) throw new Error(`no form at ${page.url.pathname}: ${page.text}`);
    const body = new URLSearchParams();
    for (const [tag] of page.text.matchAll(/<(?:input|button)[^>]*>/g)) {
      const name = / name="([^"]*)"/.exec(tag)?.[1];
      if (name !== undefined) body.set(name, unescapeHtml(/ value="([^"]*)"/.exec(tag)?.[1] ?? ""));
    }
    for (const [name, value] of Object.entries(fields)) body.set(name, value);
    return this.#request(new URL(action, page.url), { method: "POST", body, headers });
  }

  async #request(
    url: URL,
    { headers = {}, ...init }: { method: string; body?: URLSearchParams; headers?: Readonly<Record<string, string>> },
  ): Promise<VisitedPage> {
    const response = await this.#fetch(url, {
      ...init,
      redirect: "manual",
      headers: { Accept: "text/html", ...this.#headers, ...headers, Cookie: this.#cookiesFor(url) },
    });
    this.#storeCookies(response.headers.getSetCookie());
    const location = response.headers.get("location");
    if (location !== null) {
      const next = new URL(location, url);
      if (next.origin === url.origin) return this.#request(next, { method: "GET" });
      return { url: next, status: response.status, headers: response.headers, text: "" };
    }
    return { url, status: response.status, headers: response.headers, text: await response.text() };
  }

  #cookiesFor(url: URL): string {
    return [...this.#cookies]
      .filter(
        ([, { path }]) => url.pathname === path || url.pathname.startsWith(path.endsWith("/") ? path : `${path}/`),
      )
      .map(([key, { value }]) => `${key.slice(0, key.indexOf(";"))}=${value}`)
      .join("; ");
  }

  #storeCookies(lines: readonly string[]): void {
    for (const line of lines) {
      const [pair = "", ...attributes] = line.split(/; ?/);
      const name = pair.slice(0, pair.indexOf("="));
      const attribute = (key: string) =>
        attributes.find((candidate) => candidate.toLowerCase().startsWith(`${key}=`))?.slice(key.length + 1);
      const path = attribute("path") ?? "/";
      const expires = attribute("expires");
      if (expires !== undefined && Date.parse(expires) <= Date.now()) this.#cookies.delete(`${name};${path}`);
      else this.#cookies.set(`${name};${path}`, { value: pair.slice(name.length + 1), path });
    }
  }
}

/** A sign-in of the portal: its authorization URL, and the redemption of the code. */
export class SignInRequest {
  readonly issuer: string;
  readonly codeVerifier = randomBytes(32).toString("base64url");
  readonly nonce = randomBytes(16).toString("base64url");
  readonly state = randomBytes(16).toString("base64url");

  constructor(issuer: string) {
    this.issuer = issuer;
  }

  /** @param overrides parameters to set, or to omit where null */
  buildUrl(overrides: Readonly<Record<string, string | null>> = {}): URL {
    const url = new URL(`${this.issuer}/auth`);
    const parameters: Readonly<Record<string, string | null>> = {
      client_id: clientId,
      response_type: "code",
      scope: "openid profile email",
      redirect_uri: `${portalOrigin}/`,
      code_challenge: hash("sha256", this.codeVerifier, "base64url"),
      code_challenge_method: "S256",
      nonce: this.nonce,
      state: this.state,
      ...overrides,
    };
    for (const [name, value] of Object.entries(parameters)) if (value !== null) url.searchParams.set(name, value);
    return url;
  }

  redeem(
    code: string,
    overrides: Readonly<Record<string, string>> = {},
    headers: Readonly<Record<string, string>> = {},
  ): Promise<Response> {
    return fetch(`${this.issuer}/token`, {
      method: "POST",
      headers,
      body: new URLSearchParams({
        grant_type: "authorization_code",
        client_id: clientId,
        redirect_uri: `${portalOrigin}/`,
        code,
        code_verifier: this.codeVerifier,
        ...overrides,
      }),
    });
  }
}

export function requireCode(page: VisitedPage, origin = portalOrigin): string {
  const code = page.url.searchParams.get("code");
  if (page.url.origin !== origin || code === null) throw new Error(`no code at ${page.url.href}: ${page.text}`);
  return code;
}

/** The page's text without tags. */
export function getVisibleText(page: VisitedPage): string {
  return unescapeHtml(page.text.replace(/<head>[\s\S]*<\/head>|<script>[\s\S]*?<\/script>|<[^>]+>/g, " ")).replace(
    /\s+/g,
    " ",
  );
}

function unescapeHtml(text: string): string {
  return text
    .replaceAll("&lt;", "<")
    .replaceAll("&gt;", ">")
    .replaceAll("&quot;", '"')
    .replaceAll("&#39;", "'")
    .replaceAll("&amp;", "&");
}
