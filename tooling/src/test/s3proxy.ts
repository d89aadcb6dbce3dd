import { spawn, type ChildProcess } from "node:child_process";
import { hash } from "node:crypto";
import { once } from "node:events";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";

import { findFreePort } from "../database/embedded.ts";
import { rootFolder } from "../paths.ts";
import { run } from "./run.ts";

/** S3Proxy (Apache 2.0), a jar of Maven Central, with the SHA-256 of its bytes. */
const artifact = "org.gaul:s3proxy:4.1.0:jar:jar-with-dependencies";
const artifactSha256 = "a4d025969aaf796616ed4b1e2491d87d455ce84bb28cb9db086b2e6aaa68b48d";
const jarFile = join(rootFolder, ".cache/s3proxy/s3proxy-4.1.0-jar-with-dependencies.jar");

const startMilliseconds = 60_000;

export interface RealS3Server {
  /** `RELICARIO_TEST_S3` and what goes with it. */
  readonly environment: Readonly<Record<string, string>>;
  stop(): Promise<void>;
}

/**
 * Starts a real S3 server with an empty bucket, and restarts it whenever it is killed. Its process
 * id is in the file that `RELICARIO_TEST_S3_PID` names.
 *
 * @throws Error without Java or Maven
 */
export async function startS3Proxy(): Promise<RealS3Server> {
  await downloadS3Proxy();
  const folder = mkdtempSync(join(tmpdir(), "relicario-s3proxy-"));
  const dataFolder = join(folder, "data");
  mkdirSync(join(dataFolder, "sealed"), { recursive: true });
  const port = await findFreePort();
  const [accessKey, secretKey] = ["relicario-test", "relicario-test-secret"];
  const [settingsFile, pidFile] = [join(folder, "s3proxy.conf"), join(folder, "pid")];
  const settings = {
    "s3proxy.endpoint": `http://127.0.0.1:${String(port)}`,
    "s3proxy.authorization": "aws-v4",
    "s3proxy.identity": accessKey,
    "s3proxy.credential": secretKey,
    "jclouds.provider": "filesystem-nio2",
    "jclouds.filesystem.basedir": dataFolder,
  };
  writeFileSync(
    settingsFile,
    Object.entries(settings)
      .map(([name, value]) => `${name}=${value}\n`)
      .join(""),
  );
  let isStopping = false;
  let child: ChildProcess;
  const startProcess = (): void => {
    child = spawn("java", ["-Xmx512m", "-jar", jarFile, "--properties", settingsFile], { stdio: "ignore" });
    writeFileSync(pidFile, String(child.pid));
    child.once("exit", () => {
      if (!isStopping) startProcess();
    });
  };
  startProcess();
  const stop = async (): Promise<void> => {
    isStopping = true;
    child.kill("SIGKILL");
    if (child.exitCode === null && child.signalCode === null) await once(child, "exit");
    rmSync(folder, { recursive: true, force: true });
  };
  try {
    await waitForAnswer(port);
  } catch (error) {
    await stop();
    throw error;
  }
  return {
    environment: {
      AWS_ACCESS_KEY_ID: accessKey,
      AWS_SECRET_ACCESS_KEY: secretKey,
      RELICARIO_TEST_S3: `s3://sealed?endpoint=http://127.0.0.1:${String(port)}&region=us-east-1&style=path`,
      RELICARIO_TEST_S3_PID: pidFile,
    },
    stop,
  };
}

/** Downloads the jar from Maven Central once, into `.cache`. @returns its file */
export async function downloadS3Proxy(): Promise<string> {
  if (existsSync(jarFile)) return jarFile;
  const folder = `${jarFile}.${String(process.pid)}`;
  const { code, output } = await run("mvn", [
    ...["-B", "-q", "org.apache.maven.plugins:maven-dependency-plugin:3.6.0:copy"],
    ...[`-Dartifact=${artifact}`, `-DoutputDirectory=${folder}`],
  ]);
  if (code !== 0) throw new Error(`The S3 server needs Maven and Java 17: apt-get install maven.\n${output}`);
  const downloadedFile = join(folder, "s3proxy-4.1.0-jar-with-dependencies.jar");
  if (hash("sha256", readFileSync(downloadedFile), "hex") !== artifactSha256)
    throw new Error(`${downloadedFile} is not the file that was tried`);
  renameSync(downloadedFile, jarFile);
  rmSync(folder, { recursive: true });
  return jarFile;
}

async function waitForAnswer(port: number): Promise<void> {
  const deadline = performance.now() + startMilliseconds;
  while (performance.now() < deadline) {
    if (
      await fetch(`http://127.0.0.1:${String(port)}/`).then(
        () => true,
        () => false,
      )
    )
      return;
    await pause(200);
  }
  throw new Error("the S3 server did not start");
}
