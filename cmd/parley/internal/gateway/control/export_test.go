package control

// Folder is where the sockets are that belong into a folder.
var Folder = folder
