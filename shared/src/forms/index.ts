/** Form controls, and buttons to copy, print and save. Loaded in a script of its own, beside the host's. */
export { Checkbox, ChoiceGroup, Switch, type CheckboxProps, type Choice, type ChoiceGroupProps, type SwitchProps } from "./choices.tsx";
export { clipboardMilliseconds, copyForAWhile, type CopiedForAWhile } from "./clipboard.ts";
export { CopyButton, type CopyButtonProps } from "./CopyButton.tsx";
export { Field, FieldError, Hint, Label, type ControlWiring, type FieldProps } from "./Field.tsx";
export { LeaveGuard, type LeaveGuardProps } from "./LeaveGuard.tsx";
export { PasswordField, TextArea, TextField, type PasswordFieldProps, type TextAreaProps, type TextFieldProps } from "./inputs.tsx";
export { contentOf, contentProblem, contentProblems, maxImageNameLength, maxTextBytes, titleOfFile, type ChosenContent, type ContentProblem } from "./content/chosen-content.ts";
export { FileField, type FileFieldProps } from "./content/FileField.tsx";
export { KindChoice, type KindChoiceProps } from "./content/KindChoice.tsx";
export { PrintButton, type PrintButtonProps } from "./PrintButton.tsx";
export { saveFile } from "./save-file.ts";
export { SeedField, type SeedFieldProps } from "./seed/SeedField.tsx";
export { loadWords } from "./seed/word-lists.ts";
export { StrengthMeter, type StrengthMeterProps } from "./strength/StrengthMeter.tsx";
export { Stepper, type StepperProps } from "./Stepper.tsx";
export { TagField, type TagFieldProps } from "./TagField.tsx";
