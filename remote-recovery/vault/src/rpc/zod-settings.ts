import { z } from "zod";

/*
 * Before any schema is made: the policies of portal and kit forbid the functions that zod would
 * make of text, and browsers report each try.
 */
z.config({ jitless: true });
