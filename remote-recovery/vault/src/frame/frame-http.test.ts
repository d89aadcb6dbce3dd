import { UnsecuredJWT } from "jose";
import { z } from "zod";

import { createChannelPair } from "../testing/channel-pair.ts";
import { createFrameHttpClients } from "./frame-http.ts";

const apiUrl = "https://vault.example/api";
const createToken = (userId: string): string => new UnsecuredJWT({}).setSubject(userId).encode();

describe("the frame's clients of the service", () => {
  let sent: (string | null)[];
  let token: string;
  let ended: number;

  beforeEach(() => {
    sent = [];
    ended = 0;
    token = createToken("ana");
    jest.spyOn(globalThis, "fetch").mockImplementation((input, init) => {
      sent.push(new Headers(init?.headers ?? (input as Request).headers).get("authorization"));
      return Promise.resolve(Response.json({}));
    });
  });
  afterEach(() => {
    jest.restoreAllMocks();
  });

  function createClients() {
    const [pageChannel, frameChannel] = createChannelPair();
    pageChannel.serve("portal", { getToken: () => token, renewToken: () => null });
    return createFrameHttpClients(frameChannel, apiUrl);
  }

  it("send the token of the vault's account", async () => {
    const http = createClients().forAccount("ana", () => ended++);
    await http.request("GET", "/secrets/store", z.unknown());
    expect([sent, ended]).toEqual([[`Bearer ${token}`], 0]);
  });

  it.each([
    ["another account's token", createToken("mallory")],
    ["what is no token", "stolen"],
  ])("send nothing with %s, and report it", async (_case, given) => {
    token = given;
    const http = createClients().forAccount("ana", () => ended++);
    await expect(http.request("POST", "/secrets/store", z.unknown())).rejects.toMatchObject({ code: "login_required" });
    expect(sent).toEqual([]);
    expect(ended).toBeGreaterThan(0);
  });
});
