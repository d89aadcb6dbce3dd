import { buildDriveAnswerPolicy, buildHostPolicy, buildReportingHeaders } from "./headers.ts";

const google = { client_id: "g", authorize_url: "https://accounts.example/auth", api_origin: "https://drive.example" };
const onedrive = {
  client_id: "m",
  authority: "https://login.example/consumers",
  graph_url: "https://graph.example/v1.0",
  picker_url: "https://picker.example/picker",
  content_origins: ["https://*.content.example"],
};
const connectSources = (drives: Parameters<typeof buildDriveAnswerPolicy>[0]) =>
  /connect-src ([^;]*)/.exec(
    buildHostPolicy({
      nonce: "n",
      origin: "https://p.example",
      vaultOrigin: "https://vault.p.example",
      identityOrigin: "https://id.example",
      apiBase: "https://p.example/api",
      drives,
    }),
  )?.[1];

describe("the policies about cloud drives", () => {
  it.each([
    ["none", {}, ""],
    ["Google Drive", { google }, " https://drive.example"],
    ["OneDrive", { onedrive }, " https://login.example https://graph.example https://*.content.example"],
  ])("let the page call exactly the configured origins: %s", (_, drives, extraSources) => {
    expect(connectSources(drives)).toBe(`'self' https://id.example https://p.example${extraSources}`);
  });

  it("let only the page of a drive's answer post a token, and only to OneDrive's picker", () => {
    expect(buildDriveAnswerPolicy({ onedrive })).toContain(
      "form-action https://picker.example https://*.content.example;",
    );
    expect(buildDriveAnswerPolicy({ google })).toContain("form-action 'none';");
    expect(
      buildHostPolicy({
        nonce: "n",
        origin: "https://p.example",
        vaultOrigin: "https://vault.p.example",
        identityOrigin: "https://id.example",
        apiBase: "https://p.example/api",
        drives: { onedrive },
      }),
    ).toContain("form-action 'self' https://id.example;");
  });
});

describe("reports of violations", () => {
  const listDirectives = (apiBase: string) =>
    buildHostPolicy({
      nonce: "n",
      origin: new URL(apiBase).origin,
      vaultOrigin: "https://vault.p.example",
      identityOrigin: "https://id.example",
      apiBase,
    })
      .split("; ")
      .filter((directive) => directive.startsWith("report-"));

  it("go to the service by the Reporting API over https, and by report-uri otherwise", () => {
    expect(listDirectives("https://p.example/api")).toEqual([
      "report-to csp",
      "report-uri https://p.example/api/reports/csp",
    ]);
    expect(buildReportingHeaders("https://p.example/api")).toEqual({
      "reporting-endpoints": 'csp="https://p.example/api/reports/csp"',
    });
    expect(listDirectives("http://localhost:3000/api")).toEqual(["report-uri http://localhost:3000/api/reports/csp"]);
    expect(buildReportingHeaders("http://localhost:3000/api")).toEqual({});
  });
});
