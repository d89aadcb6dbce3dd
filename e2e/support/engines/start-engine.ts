import { engines, type Engine, type EngineName, type EngineOptions } from "./engine.ts";
import { startPuppeteerEngine } from "./puppeteer-engine.ts";
import { startWebKit } from "./webkit-engine.ts";

/**
 * Starts an engine with an empty profile.
 *
 * @throws Error that names what to install
 */
export async function startEngine(name: EngineName, options: EngineOptions = {}): Promise<Engine> {
  const engine = name === "WebKit" ? await startWebKit(options) : await startPuppeteerEngine(name, options);
  if (engine === null)
    throw new Error(
      `There is no ${name} to try the attacks in. Install one (Debian: apt-get install ${engines[name]}).`,
    );
  return engine;
}
