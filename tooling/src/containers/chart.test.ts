import { execFileSync, spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { parseAllDocuments } from "yaml";
import { z } from "zod";

import { rootFolder } from "../paths.ts";
import { remoteNames } from "../remotes.ts";

const helm = process.env["RELICARIO_TEST_HELM"] ?? "";
const python = process.env["RELICARIO_TEST_PYTHON"] ?? "";
if (helm === "" || python === "") throw new Error("Helm is missing: npm run test:chart installs it");

const chart = join(rootFolder, "deploy/helm/relicario");
/** The oldest that the chart names, and the newest that the checker knows. */
const kubernetesVersions = ["1.29.0", "1.37.0"] as const;
const required = {
  "portal.origin": "https://portal.example.org",
  "portal.vaultOrigin": "https://vault.example.org",
  "identity.authority": "https://id.example.org/realms/relicario",
  objectsUrl: "s3://sealed/portal?region=eu-central-1",
};
const everything = {
  ...required,
  "secrets.metrics": "relicario-metrics",
  "monitoring.enabled": "true",
  "service.settings.OTEL_EXPORTER_OTLP_ENDPOINT": "http://collector:4318",
  "ingress.className": "nginx",
  "imagePullSecrets[0].name": "registry",
  "networkPolicies.serviceEgress[0].ports[0].port": "5432",
  "volume.storageClass": "nfs",
};
const smallest = {
  ...required,
  "service.autoscaling.enabled": "false",
  "gateway.autoscaling.enabled": "false",
  "networkPolicies.enabled": "false",
  "ingress.enabled": "false",
  "volume.existingClaim": "documents",
};

const Variable = z.object({ name: z.string(), value: z.string().optional(), valueFrom: z.unknown().optional() });
const Container = z.looseObject({
  name: z.string(),
  command: z.array(z.string()).optional(),
  env: z.array(Variable).default([]),
  securityContext: z.unknown(),
  resources: z.looseObject({ limits: z.unknown(), requests: z.unknown() }),
  volumeMounts: z.array(z.object({ name: z.string(), mountPath: z.string() })).default([]),
});
const Pod = z.looseObject({
  automountServiceAccountToken: z.literal(false),
  enableServiceLinks: z.literal(false),
  securityContext: z.unknown(),
  initContainers: z.array(Container).default([]),
  containers: z.array(Container),
  volumes: z.array(z.object({ name: z.string() })).default([]),
});
const Manifest = z.looseObject({
  apiVersion: z.string(),
  kind: z.string(),
  metadata: z.looseObject({ name: z.string(), labels: z.record(z.string(), z.string()) }),
  spec: z.looseObject({ template: z.object({ spec: Pod }).optional() }).optional(),
});
type Manifest = z.infer<typeof Manifest>;

const toArguments = (values: Readonly<Record<string, string>>): string[] =>
  Object.entries(values).flatMap(([name, value]) => ["--set", `${name}=${value}`]);

function renderText(values: Readonly<Record<string, string>>): string {
  return execFileSync(
    helm,
    ["template", "portal", chart, "--kube-version", kubernetesVersions[0], ...toArguments(values)],
    { encoding: "utf8", stdio: "pipe" },
  );
}

function render(values: Readonly<Record<string, string>>): Manifest[] {
  return parseAllDocuments(renderText(values)).map((document) => Manifest.parse(document.toJS()));
}

const listPods = (manifests: readonly Manifest[]): { name: string; pod: z.infer<typeof Pod> }[] =>
  manifests.flatMap(({ metadata: { name }, spec }) =>
    spec?.template === undefined ? [] : [{ name, pod: spec.template.spec }],
  );

function requireContainer(manifests: readonly Manifest[], name: string): z.infer<typeof Container> {
  const container = listPods(manifests)
    .flatMap(({ pod }) => pod.containers)
    .find((candidate) => candidate.name === name);
  if (container === undefined) throw new Error(`no container ${name}`);
  return container;
}

const chosenValues = { required, everything, smallest };

describe.each(Object.entries(chosenValues))("the chart with %s values", (_, values) => {
  it("passes Helm's lint", () => {
    expect(execFileSync(helm, ["lint", "--strict", chart, ...toArguments(values)], { encoding: "utf8" })).toContain(
      "0 chart(s) failed",
    );
  });

  it.each(kubernetesVersions)("is valid by the schemas of Kubernetes %s", (version) => {
    const manifests = renderText(values).split(/^---$/m);
    // The schemas of the Prometheus operator are not Kubernetes' own.
    const text = manifests.filter((manifest) => !manifest.includes("apiVersion: monitoring.coreos.com/")).join("---");
    const folder = mkdtempSync(join(tmpdir(), "relicario-chart-"));
    const validate = (manifestText: string): { code: number | null; output: string } => {
      const file = join(folder, "chart.yaml");
      writeFileSync(file, manifestText);
      const { status, stdout, stderr } = spawnSync(
        python,
        ["-m", "kubernetes_validate", "--strict", "--quiet", "-k", version, file],
        { encoding: "utf8" },
      );
      return { code: status, output: stdout + stderr };
    };
    try {
      expect(text).toContain("kind: Deployment");
      expect(validate(text)).toEqual({ code: 0, output: "" });
      expect(validate(text.replaceAll("containerPort:", "containerPrt:")).output).toContain(
        "'containerPort' is a required property",
      );
    } finally {
      rmSync(folder, { recursive: true });
    }
  });

  it("runs each pod as the restricted profile of pod security asks", () => {
    const pods = listPods(render(values));
    expect(pods.length).toBeGreaterThanOrEqual(4 + remoteNames.length);
    for (const { name, pod } of pods) {
      expect([name, pod.securityContext]).toEqual([
        name,
        expect.objectContaining({ runAsNonRoot: true, seccompProfile: { type: "RuntimeDefault" } }),
      ]);
      for (const container of [...pod.initContainers, ...pod.containers])
        expect([name, container.securityContext]).toEqual([
          name,
          { allowPrivilegeEscalation: false, readOnlyRootFilesystem: true, capabilities: { drop: ["ALL"] } },
        ]);
    }
  });

  it("makes no Secret, and gives the portal's key to the signer alone", () => {
    const manifests = render(values);
    expect(manifests.filter(({ kind }) => kind === "Secret")).toEqual([]);
    const withKeys = listPods(manifests).filter(({ pod }) =>
      pod.containers.some(({ volumeMounts }) => volumeMounts.some(({ mountPath }) => mountPath === "/keys")),
    );
    expect(withKeys.map(({ name }) => name)).toEqual(["portal-deployment-signer"]);
  });

  it("names scripts and settings that exist", () => {
    const manifests = render(values);
    const readText = (path: string): string => readFileSync(join(rootFolder, path), "utf8");
    /** Where each process reads its settings. */
    const sources = {
      service: ["api/src/env/env.ts", "tooling/src/tracing/start-tracing.ts"],
      gateway: [
        "tooling/src/serve/gateway-main.ts",
        "tooling/src/containers/with-secrets.ts",
        "tooling/src/tracing/start-tracing.ts",
      ],
      "deployment-signer": ["tooling/src/containers/deployment-signer.ts", "tooling/src/portal/main.ts"],
    };
    for (const [name, files] of Object.entries(sources)) {
      const { env, command = [] } = requireContainer(manifests, name);
      expect(env.length).toBeGreaterThan(7);
      const text = files.map(readText).join("\n");
      for (const variable of env.filter((candidate) => candidate.name !== "OTEL_SERVICE_NAME"))
        expect([name, variable.name, text.includes(variable.name)]).toEqual([name, variable.name, true]);
      expect(readText(command.find((word) => word.endsWith(".ts")) ?? "")).not.toBe("");
    }
    const migration = requireContainer(manifests, "migration");
    expect(readText(migration.command?.at(-1) ?? "")).toContain("migrateDatabase");
  });

  it("lets the gateway call the service and each remote by the name of a Service", () => {
    const manifests = render(values);
    const services = new Set(manifests.filter(({ kind }) => kind === "Service").map(({ metadata }) => metadata.name));
    const { value = "" } =
      requireContainer(manifests, "gateway").env.find((variable) => variable.name === "UPSTREAMS") ?? {};
    const upstreams = z.record(z.string(), z.url()).parse(JSON.parse(value));
    const hosts = [upstreams["api"], ...remoteNames.map((name) => upstreams["*"]?.replace("*", name))].map(
      (address) => new URL(address ?? "").hostname,
    );
    expect(hosts.filter((host) => !services.has(host))).toEqual([]);
  });
});

describe("the chart", () => {
  const refuse = (values: Readonly<Record<string, string>>): string => {
    const { status, stderr } = spawnSync(
      helm,
      ["template", "portal", chart, "--kube-version", kubernetesVersions[0], ...toArguments(values)],
      {
        encoding: "utf8",
      },
    );
    expect(status).not.toBe(0);
    return stderr;
  };

  it("asks for what it needs, and refuses what it does not know", () => {
    expect(refuse({})).toMatch(/vaultOrigin/);
    expect(refuse({ ...required, objectsUrl: "/a/folder" })).toMatch(/objectsUrl/);
    expect(refuse({ ...required, "service.replicsa": "3" })).toMatch(/replicsa/);
    expect(refuse({ ...required, "monitoring.enabled": "true" })).toMatch(/monitoring needs secrets.metrics/);
  });

  it("has the rules and the dashboard of deploy/monitoring", () => {
    const manifests = render(everything);
    const rules = manifests.find(({ kind }) => kind === "PrometheusRule");
    expect(
      z.object({ groups: z.array(z.object({ rules: z.array(z.unknown()) })) }).parse(rules?.spec).groups[0]?.rules
        .length,
    ).toBeGreaterThan(10);
    const dashboard = manifests.find(({ kind }) => kind === "ConfigMap");
    expect(JSON.parse(z.object({ "relicario.json": z.string() }).parse(dashboard?.["data"])["relicario.json"])).toEqual(
      JSON.parse(readFileSync(join(rootFolder, "deploy/monitoring/dashboard.json"), "utf8")),
    );
  });

  it("has the version of the image's packages", () => {
    const { version } = JSON.parse(readFileSync(join(rootFolder, "api/package.json"), "utf8")) as { version: string };
    expect(readFileSync(join(chart, "Chart.yaml"), "utf8")).toContain(`appVersion: "${version}"`);
  });
});
