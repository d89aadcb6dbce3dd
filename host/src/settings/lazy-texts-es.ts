import help from "../locales/es/help.json";
import joyride from "../locales/es/joyride.json";

/** Texts that the first screen does not need. */
export const texts = { help, joyride };
