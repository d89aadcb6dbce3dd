import help from "../locales/en/help.json";
import joyride from "../locales/en/joyride.json";

/** Texts that the first screen does not need. */
export const texts = { help, joyride };
