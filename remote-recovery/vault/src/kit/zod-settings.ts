import { z } from "zod";

/* Before any schema is made: a kit's policy forbids the functions that zod would make of text, and each try would be told to the console. */
z.config({ jitless: true });
