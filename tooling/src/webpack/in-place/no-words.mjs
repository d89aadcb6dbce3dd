/** In the place of federation's sentences for developers: its errors keep their numbers, and nobody reads them in a page. */
const none = {};
export { none as buildDescMap, none as errorDescMap, none as runtimeDescMap, none as typeDescMap };
