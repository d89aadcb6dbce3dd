/** Form controls, and buttons to copy, print and save. Loaded in a script of its own, beside the host's. */
export { Checkbox, ChoiceGroup, Switch, type CheckboxProps, type Choice, type ChoiceGroupProps, type SwitchProps } from "./choices.tsx";
export { clipboardMilliseconds, copyForAWhile, type CopiedForAWhile } from "./clipboard.ts";
export { CopyButton, type CopyButtonProps } from "./CopyButton.tsx";
export { Field, FieldError, Hint, Label, type ControlWiring, type FieldProps } from "./Field.tsx";
export { PasswordField, TextArea, TextField, type PasswordFieldProps, type TextAreaProps, type TextFieldProps } from "./inputs.tsx";
export { PrintButton, type PrintButtonProps } from "./PrintButton.tsx";
export { PrintSheet, type PrintSheetProps } from "./PrintSheet.tsx";
export { saveFile } from "./save-file.ts";
export { Stepper, type StepperProps } from "./Stepper.tsx";
export { TagField, type TagFieldProps } from "./TagField.tsx";
